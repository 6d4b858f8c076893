import type { z } from "zod";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { eventRecord, listEvents } from "@/lib/contracts/events";
import type { EventRow } from "./service";

const toEvent = (row: EventRow, mayReadPrivate: boolean): z.output<typeof eventRecord> => {
  const { id, type, sequence } = row;
  if (row.private && !mayReadPrivate) return { id, type, sequence };
  const { objectId, objectSequence, payload: data } = row;
  return { id, type, sequence, createdAt: row.createdAt.toISOString(), objectId, objectSequence, data };
};

export const toEvents = (page: {
  readonly data: readonly EventRow[];
  readonly lastSequence: number;
  readonly mayReadPrivate: boolean;
}): ResponseOf<typeof listEvents> => ({
  data: page.data.map((row) => toEvent(row, page.mayReadPrivate)),
  lastSequence: page.lastSequence,
});
