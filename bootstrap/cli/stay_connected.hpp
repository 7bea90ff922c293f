#pragma once

namespace hpcboot::tool {

// From here on, a socket that a library of this process shuts down and closes stays open, and goes
// to the program that this process becomes.
//
// For PMIx_Finalize. The server answers it first and notes that the rank has left afterwards, in
// another thread under Open MPI 4 (OpenPMIx 4.2, op_cbfunc2 in server/pmix_server.c). Where the end
// of the connection is seen in between, or while a fence of the host's ranks is open, the server
// takes the rank for lost, and its fences then end without one of the ranks (openpmix#3931, #4113):
// an MPI program would wait in MPI_Init for ever, or not find its peers. With the program's own end
// nobody waits any more.
void stay_connected();

}  // namespace hpcboot::tool
