#pragma once

namespace hpcboot::tool {

// From now on, a socket that a library of this process shuts down and closes stays open, and is
// inherited by the program that this process becomes.
//
// For PMIx_Finalize. The server first answers it and only afterwards notes that the rank has left,
// in another thread under Open MPI 4 (OpenPMIx 4.2, op_cbfunc2 in server/pmix_server.c). If it sees
// the end of the connection in between, or while a fence of the host's ranks is open, it takes the
// rank for lost, and its fences then end without one of the ranks (openpmix#3931, #4113): an MPI
// program would wait forever in MPI_Init, or not find its peers. By the end of the program itself,
// no rank is waiting any more.
void stay_connected();

}  // namespace hpcboot::tool
