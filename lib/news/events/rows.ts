import { z } from "zod";
import {
  bool,
  type Column,
  count,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

// The tables of this module, and the columns of its queries. Event numbers stay far below 2^53.

const payload = z.record(z.string(), z.unknown());

/**
 * A column of type JSON, read as text. JSON keeps the text as it was written, which JSONB does
 * not.
 */
const jsonText: Column<string> = {
  type: "json",
  select: (name) => `${name}::text`,
  read: (stored) => stored as string,
  write: (value) => value,
};

/** Table `event`: numbered events. */
export const events = table({
  projectId: text,
  id: text,
  type: text,
  /** From 1 in each project, without gaps. */
  sequence: count,
  objectId: text,
  /** Sequence number of the event within its object. */
  objectSequence: count,
  /**
   * The event's data. The fields depend on the type of the event and on the version of the service
   * that wrote it.
   */
  payload: {
    ...jsonText,
    read: (stored) => payload.parse(JSON.parse(jsonText.read(stored))),
    write: (value) => JSON.stringify(value),
  } satisfies Column<z.output<typeof payload>>,
  private: bool,
  createdAt: time,
});

export type EventRow = RowOf<typeof events>;

/** Table `event_outbox`: events without a number yet. */
export const outboxRows = table({
  projectId: text,
  id: text,
  type: text,
  objectId: text,
  payload: jsonText,
  private: bool,
  createdAt: time,
});

export type OutboxRow = RowOf<typeof outboxRows>;

/** Table `archived_events`: events of a month that were written to a file. */
export const archivedRanges = table({
  /** `2026-01`. */
  month: text,
  firstSequence: count,
  lastSequence: count,
  file: text,
});

export type ArchivedRange = RowOf<typeof archivedRanges>;

export const sequencedRanges = table({
  projectId: text,
  from: count,
  to: count,
});

export type SequencedRange = RowOf<typeof sequencedRanges>;
