// Provides the precompiled header of the tests (cmake/HpcbootAddTest.cmake); never run.
int main() {}
