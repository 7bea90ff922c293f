#pragma once

/// All tasks, the default first. A new one needs a line here and a file, tasks/<name>.cpp, which
/// defines make_<name>() as task.cpp declares it. KnownTask describes the columns.
// clang-format off
#define HPCBOOT_TASKS(TASK)                                                                       \
  /*   name         about                         sample      models                  --model */  \
  /*   --data                        --image-size --augment    --lr  --scale-lr  --dropout    */  \
  TASK(mnist,       "digits into classes",        "image",    models::Kind::images,    "resnet50", \
       "data/mnist",                 128,         "none",      1e-4, "none",     0)                \
  TASK(transformer, "sequences into sequences",   "sequence", models::Kind::sequences, "transformer", \
       "sequences:2048x1x20x512",    0,           "none",      1e-3, "linear",   0.1)              \
  TASK(cifar,       "colour pictures into classes", "image",  models::Kind::images,    "vit_b_16", \
       "data/cifar10",               224,         "crop-flip", 1e-4, "none",     0)
// clang-format on
