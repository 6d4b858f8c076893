import type { z } from "zod";
import type { parkedJobRecord } from "@/lib/contracts/jobs";
import type { ParkedJob } from "./repository";

export const toParkedJob = ({
  id,
  queue,
  failures,
  lastError,
  parkedAt,
}: ParkedJob): z.output<typeof parkedJobRecord> => ({
  id,
  kind: queue === "payout" ? "payout" : "operation",
  failures,
  lastError,
  parkedAt: parkedAt.toISOString(),
});
