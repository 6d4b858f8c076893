import type { RouteRequest } from "@/lib/core/route-request";
import { toStored } from "@/lib/platform/db/codecs";
import type { RowOf } from "@/lib/platform/db/table";
import { storedRouteRequest } from "@/lib/money/ports/routing-json";
import { type Leg, parseLeg } from "./leg";
import { operations } from "./rows";

// An operation as the module works with it.

/** A movement of money that was accepted, or awaits approval. */
export interface Operation extends RowOf<typeof operations> {
  /**
   * In the order of their positions. Empty while the operation awaits approval, and for operations
   * that another module drives.
   */
  readonly legs: readonly Leg[];
}

/** The request as it looks after being stored as JSON and parsed again. */
export const asStoredRequest = (request: RouteRequest): RouteRequest =>
  storedRouteRequest.parse(toStored(request));

/** @throws ZodError when a stored column does not have the expected shape */
export const parseOperation = (
  row: object & { readonly legs: readonly object[] },
): Operation => ({
  ...operations.read(row),
  legs: row.legs.map(parseLeg),
});

/** The kind of operations that represent incoming money from outside. */
export const DEPOSIT_KIND = "deposit";
