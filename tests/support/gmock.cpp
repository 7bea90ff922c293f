// Carries the precompiled header of the tests (cmake/HpcbootAddTest.cmake); nobody runs it.
int main() {}
