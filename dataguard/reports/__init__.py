"""Reports: functions of a result, and of nothing else."""
