import { z } from "zod";
import {
  bool,
  count,
  int,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

/** A row of one of the two lists that record a project's changes. */
export const changes = table({
  list: oneOf(z.enum(["events", "audit"])),
  projectId: text,
  seq: count,
  /** The type of the event, or the action of the audit entry. */
  name: text,
  objectId: nullable(text),
  private: bool,
  at: time,
});

export type Found = RowOf<typeof changes>;

/** Positions in the two lists that record a project's changes: its events, and its audit chain. */
export const cursors = table({ events: count, audit: count });

export type Cursor = RowOf<typeof cursors>;

/** Table `notification_box`: versions of people's lists of notifications. */
export const boxes = table({ projectId: text, userId: text, version: count });

export type Box = RowOf<typeof boxes>;

export const parkedJobs = table({
  projectId: text,
  /** The ids of the project's parked jobs, separated by spaces. */
  ids: text,
});

/** An index in a list that the query received. */
export const indexes = table({ n: int });
