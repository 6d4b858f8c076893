import type { z } from "zod";
import type { apiRequestRecord } from "@/lib/contracts/api-requests";
import type { ApiRequest } from "./service";

export const toApiRequest = (request: ApiRequest): z.output<typeof apiRequestRecord> => ({
  id: request.id,
  keyId: request.keyId,
  method: request.method,
  path: request.path,
  status: request.status,
  code: request.code,
  durationMs: Math.round(request.durationMs * 100) / 100,
  clientAddress: request.clientAddress,
  bodySha256:
    request.bodySha256 === null ? null : Buffer.from(request.bodySha256).toString("hex"),
  at: request.at.toISOString(),
});
