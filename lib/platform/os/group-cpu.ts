import { readdirSync, readFileSync } from "node:fs";

/** Unit of CPU times in /proc. Linux counts them in hundredths of a second (USER_HZ, proc(5)). */
const TICK_MS = 10;
/**
 * Index of the process group among the fields of /proc/<pid>/stat. Fields are counted after the
 * name of the program, because the name may contain spaces.
 */
const GROUP = 2;
/** Index of the CPU time in user mode. */
const USER_TIME = 11;
/** Index of the CPU time in kernel mode. */
const SYSTEM_TIME = 12;

const statOf = (pid: string): readonly string[] => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    // The process has ended meanwhile.
    return [];
  }
};

/**
 * CPU time that the processes of a group have used so far, in milliseconds. Null where the system
 * does not tell, as outside of Linux.
 */
export const groupCpuMs = (group: number): number | null => {
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null;
  }
  const stats = names.filter((name) => /^\d+$/.test(name)).map(statOf);
  const own = stats.filter((stat) => stat[GROUP] === String(group));
  if (own.length === 0) return null;
  return own.reduce(
    (sum, stat) => sum + (Number(stat[USER_TIME]) + Number(stat[SYSTEM_TIME])) * TICK_MS,
    0,
  );
};
