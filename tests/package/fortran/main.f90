! A Fortran program gets its rank: in this process, then in an environment captured elsewhere.
program consumer
  use hpcboot, only: hpcboot_resolution, hpcboot_text, hpcboot_unknown, resolve, resolve_dump
  implicit none
  character(len=*), parameter :: nl = new_line('a')
  character(len=*), parameter :: dump = 'OMPI_COMM_WORLD_RANK=3' // nl // 'OMPI_COMM_WORLD_SIZE=4' // nl // &
    'OMPI_COMM_WORLD_LOCAL_RANK=1' // nl // 'HPCBOOT_MASTER_ADDR=n1' // nl
  type(hpcboot_resolution) :: me
  character(len=2048) :: error
  character(len=4096) :: padded

  if (resolve(me, error) /= 0) error stop 'this process does not resolve'
  print *, 'rank', me%rank, 'of', me%world_size, 'by ', hpcboot_text(me%launcher)

  if (resolve_dump(dump, me, error) /= 0) error stop 'the dump does not resolve'
  if (me%rank /= 3 .or. me%world_size /= 4 .or. me%local_rank /= 1) error stop 'wrong placement'
  if (me%device /= hpcboot_unknown) error stop 'a device from nowhere'
  if (hpcboot_text(me%launcher) /= 'openmpi') error stop 'wrong launcher'
  if (hpcboot_text(me%master_addr) /= 'n1') error stop 'wrong master'
  padded = dump
  if (resolve_dump(padded, me, error) /= 0) error stop 'a dump padded with blanks does not resolve'
  if (me%rank /= 3 .or. hpcboot_text(me%master_addr) /= 'n1') error stop 'wrong values of a padded dump'
  if (resolve_dump('OMPI_COMM_WORLD_RANK=x', me, error) /= 20) error stop 'no error'
  if (index(error, "OMPI_COMM_WORLD_RANK='x'") == 0) error stop 'an error without details'
end program
