#pragma once

#include <boost/program_options.hpp>
#include <string>

namespace hpcboot::tool {

// The arguments that shape a job script, each a word of a shell, in the order of `options`: not
// where it is written to, nor what is done with it then.
std::string arguments_of_script(const boost::program_options::variables_map& values,
                                const boost::program_options::options_description& options);

}  // namespace hpcboot::tool
