import { z } from "zod";
import { bool, nullable, oneOf, type RowOf, table, text, time } from "@/lib/platform/db/table";

// The columns of this module's queries, which read several tables.

/**
 * Kinds of objects that a session can create without a further proof, and that continue to work
 * after the session has ended.
 */
export const MADE_KINDS = ["api_key", "webhook_endpoint", "payout_schedule"] as const;
export type MadeKind = (typeof MADE_KINDS)[number];

/**
 * An API key, webhook endpoint or schedule that a session created without a further proof, and that
 * no person has approved since.
 */
export const madeThings = table({
  kind: oneOf(z.enum(MADE_KINDS)),
  id: text,
  projectId: text,
  projectName: text,
  /** The name of a key, the URL of an endpoint, the reference of a schedule (or its id). */
  name: text,
  madeAt: time,
  /** Null while it works. */
  suspendedAt: nullable(time),
  sessionId: text,
  userId: text,
  userAgent: nullable(text),
});

export type MadeThing = RowOf<typeof madeThings>;
export type ThingName = Pick<MadeThing, "kind" | "id">;

/** The state of an object that may have been proved or may have ended. */
export const thingStates = table({
  name: text,
  madeAt: time,
  suspendedAt: nullable(time),
  isProven: bool,
});

export type ThingState = RowOf<typeof thingStates>;
