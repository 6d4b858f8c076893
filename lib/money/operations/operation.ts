import type { RouteRequest } from "@/lib/core/route-request";
import { toStored } from "@/lib/platform/db/codecs";
import type { RowOf } from "@/lib/platform/db/table";
import { storedRouteRequest } from "@/lib/money/ports/routing-json";
import { type Leg, parseLeg } from "./leg";
import { operations } from "./rows";

export interface Operation extends RowOf<typeof operations> {
  /**
   * The legs in the order of their positions. Empty while the operation awaits approval, and for
   * operations that another module drives.
   */
  readonly legs: readonly Leg[];
}

/** Converts the request to the form it has after being stored as JSON and parsed again. */
export const asStoredRequest = (request: RouteRequest): RouteRequest =>
  storedRouteRequest.parse(toStored(request));

/**
 * Parses a row of the table `operation` with the rows of its legs.
 * @throws ZodError when a stored column does not have the expected shape
 */
export const parseOperation = (
  row: object & { readonly legs: readonly object[] },
): Operation => ({
  ...operations.read(row),
  legs: row.legs.map(parseLeg),
});

export const DEPOSIT_KIND = "deposit";
