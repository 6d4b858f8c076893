import { onLineDropped } from "@/lib/log/logger";
import { counter } from "./registry";

const droppedTotal = counter({ name: "causeway_log_lines_dropped_total", help: "Log lines that could not be written" });

/** Counts dropped log lines from now on. */
export const countDroppedLines = (): void => onLineDropped(countOne);

// One function, so that a second call registers nothing new.
const countOne = (): void => droppedTotal.inc();
