#pragma once

namespace hpcboot::train {

/// Makes OpenBLAS take the memory in which this many threads multiply matrices, if the address
/// space of this process is limited (`ulimit -v`, Grid Engine's h_vmem): otherwise it takes it at
/// the first multiplication, and if there is none, it never stops asking. Other libraries are left
/// alone.
/// @throws Error{out_of_memory} if there is too little
void take_blas_memory(int threads);

}  // namespace hpcboot::train
