import { z } from "zod";

const payload = z.enum(["full", "thin"]);
const status = z.enum(["active", "paused", "disabled"]);
const disabledReason = z.enum(["gone", "failing"]).nullable();

/** A URL that the events of a project are sent to. */
export interface EndpointRow {
  readonly projectId: string;
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly payload: z.output<typeof payload>;
  readonly includePrivate: boolean;
  readonly description: string | null;
  readonly status: z.output<typeof status>;
  readonly disabledReason: z.output<typeof disabledReason>;
  readonly concurrency: number;
  readonly version: number;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An endpoint with the state of its deliveries. */
export interface EndpointView extends EndpointRow {
  /** The time since which every attempt has failed; null when the last one succeeded. */
  readonly failingSince: Date | null;
  /** Number of pending deliveries; counted up to 1000. */
  readonly pending: number;
}

/** A row of the table `webhook_endpoint`. */
export interface EndpointColumns extends Omit<EndpointRow, "payload" | "status" | "disabledReason"> {
  readonly payload: string;
  readonly status: string;
  readonly disabledReason: string | null;
}

/** @throws ZodError when a column does not have the shape that this version writes */
export const parseEndpoint = <Row extends EndpointColumns>(
  row: Row,
): Omit<Row, "payload" | "status" | "disabledReason"> & Pick<EndpointRow, "payload" | "status" | "disabledReason"> => ({
  ...row,
  payload: payload.parse(row.payload),
  status: status.parse(row.status),
  disabledReason: disabledReason.parse(row.disabledReason),
});
