import type { ResponseOf } from "@/lib/contracts/contract";
import type { getExport, listExports } from "@/lib/contracts/exports";
import type { Export } from "./service";

type Body = ResponseOf<typeof getExport>;

const isWhole = ({ state }: Export): boolean => state === "ready" || state === "expired";

export const toExport = (made: Export): Body => ({
  id: made.id,
  kind: made.kind,
  format: made.format,
  filters: { ...made.filters },
  state: made.state,
  rows: made.rows,
  bytes: isWhole(made) ? made.bytes : null,
  sha256: made.sha256 === null ? null : Buffer.from(made.sha256).toString("hex"),
  failure: made.failure,
  createdBy: made.createdBy,
  createdAt: made.createdAt.toISOString(),
  readyAt: made.readyAt?.toISOString() ?? null,
  expiresAt: made.expiresAt.toISOString(),
});

export const toExports = (found: {
  readonly data: readonly Export[];
  readonly nextCursor: string | null;
}): ResponseOf<typeof listExports> => ({
  data: found.data.map(toExport),
  nextCursor: found.nextCursor,
});
