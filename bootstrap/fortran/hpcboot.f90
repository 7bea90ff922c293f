! hpcboot for Fortran 2008: compile this file with your program, since module files differ between
! compilers. It mirrors hpcboot/hpcboot.h, which documents every field and function.
!
!   use hpcboot
!   type(hpcboot_resolution) :: me
!   character(len=2048) :: error
!   integer :: code
!   code = resolve(me, error)
!   if (code /= 0) then
!     print *, trim(error)
!     error stop
!   end if
!   print *, me%rank, ' of ', me%world_size, ' by ', hpcboot_text(me%launcher)
module hpcboot
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char, c_size_t, c_sizeof
  implicit none
  private
  public :: hpcboot_resolution, hpcboot_text, resolve, resolve_dump
  integer(c_int), parameter, public :: hpcboot_unknown = -1

  type, bind(c) :: hpcboot_resolution
    integer(c_size_t) :: struct_size = 0  ! set by the functions below
    integer(c_int) :: rank = hpcboot_unknown
    integer(c_int) :: world_size = hpcboot_unknown
    integer(c_int) :: local_rank = hpcboot_unknown
    integer(c_int) :: local_size = hpcboot_unknown
    integer(c_int) :: node_rank = hpcboot_unknown
    integer(c_int) :: num_nodes = hpcboot_unknown
    integer(c_int) :: master_port = hpcboot_unknown
    integer(c_int) :: device = hpcboot_unknown
    integer(c_int) :: agent_store = 0
    character(kind=c_char) :: launcher(32) = c_null_char
    character(kind=c_char) :: scheduler(32) = c_null_char
    character(kind=c_char) :: job_id(256) = c_null_char
    character(kind=c_char) :: master_addr(256) = c_null_char
    character(kind=c_char) :: interface_name(64) = c_null_char
    character(kind=c_char) :: interface_address(64) = c_null_char
  end type

  interface
    function c_resolve(out, error, error_size) bind(c, name='hpcboot_resolve') result(code)
      import :: c_char, c_int, c_size_t, hpcboot_resolution
      type(hpcboot_resolution), intent(inout) :: out
      character(kind=c_char), intent(out) :: error(*)
      integer(c_size_t), value :: error_size
      integer(c_int) :: code
    end function

    function c_resolve_dump(dump, dump_size, out, error, error_size) &
        bind(c, name='hpcboot_resolve_dump') result(code)
      import :: c_char, c_int, c_size_t, hpcboot_resolution
      character(kind=c_char), intent(in) :: dump(*)
      integer(c_size_t), value :: dump_size
      type(hpcboot_resolution), intent(inout) :: out
      character(kind=c_char), intent(out) :: error(*)
      integer(c_size_t), value :: error_size
      integer(c_int) :: code
    end function
  end interface

contains

  !> Determines the identity of this process. Returns 0, or the code documented for
  !> hpcboot_resolve() in the C header with the error text, padded with blanks.
  integer function resolve(me, error) result(code)
    type(hpcboot_resolution), intent(inout) :: me
    character(len=*), intent(out) :: error
    character(kind=c_char) :: buffer(len(error) + 1)
    me%struct_size = c_sizeof(me)
    code = c_resolve(me, buffer, int(size(buffer), c_size_t))
    error = hpcboot_text(buffer)
  end function

  !> The same for an environment dumped elsewhere with printenv. Blanks at its end are padding.
  integer function resolve_dump(dump, me, error) result(code)
    character(len=*), intent(in) :: dump
    type(hpcboot_resolution), intent(inout) :: me
    character(len=*), intent(out) :: error
    character(kind=c_char) :: buffer(len(error) + 1)
    me%struct_size = c_sizeof(me)
    code = c_resolve_dump(dump, int(len_trim(dump), c_size_t), me, &
                          buffer, int(size(buffer), c_size_t))
    error = hpcboot_text(buffer)
  end function

  !> A string of the C library, up to its NUL.
  pure function hpcboot_text(from) result(text)
    character(kind=c_char), intent(in) :: from(:)
    character(len=:), allocatable :: text
    integer :: i, length
    length = 0
    do i = 1, size(from)
      if (from(i) == c_null_char) exit
      length = i
    end do
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = from(i)
    end do
  end function

end module
