#pragma once

/// All tasks, the default first. A new one needs a line here and a file, tasks/<name>.cpp, which
/// defines make_<name>() (tasks/task.hpp). See KnownTask for the columns.
// clang-format off
#define HPCBOOT_TASKS(TASK)                                                                       \
  /*   name         about                        sample      models            */                 \
  /*   --model      --data                       --image-size --augment --lr --scale-lr */        \
  TASK(mnist,       "digits into classes",       "image",    models::Kind::images,                \
       "resnet50",  "data/mnist",                128, "none", 1e-4, "none")
// clang-format on
