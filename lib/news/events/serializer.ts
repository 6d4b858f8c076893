import type { z } from "zod";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { eventRecord, listEvents } from "@/lib/contracts/events";
import type { EventPage, EventRow } from "./service";

const toEvent = (row: EventRow, mayReadPrivate: boolean): z.output<typeof eventRecord> => {
  const { id, type, sequence } = row;
  if (row.private && !mayReadPrivate) return { id, type, sequence };
  const { objectId, objectSequence, payload: data } = row;
  return {
    id,
    type,
    sequence,
    createdAt: row.createdAt.toISOString(),
    objectId,
    objectSequence,
    data,
  };
};

export const toEvents = ({
  data,
  nextAfter,
  lastSequence,
  archived,
  mayReadPrivate,
}: EventPage): ResponseOf<typeof listEvents> => ({
  data: data.map((row) => toEvent(row, mayReadPrivate)),
  nextAfter,
  lastSequence,
  archived,
});
