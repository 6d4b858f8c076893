import { z } from "zod";
import { storedAddress, storedBase, storedToken } from "@/lib/platform/db/codecs";
import type { RouteLeg } from "./routing";
import type { RouteRequest } from "@/lib/core/route-request";

/** The request of a stored quote. @throws ZodError */
export const storedRouteRequest: z.ZodType<RouteRequest> = z.object({
  sources: z.array(
    z.object({ owner: storedAddress, token: storedToken, amountBase: storedBase }),
  ),
  destination: z.object({ token: storedToken, recipient: storedAddress }),
  slippageBps: z.int(),
  routeId: z.string().optional(),
  limits: z
    .object({ minOutBase: storedBase.optional(), maxPriceImpactBps: z.int().optional() })
    .optional(),
});

/** A leg of a stored route. @throws ZodError */
export const storedRouteLeg: z.ZodType<RouteLeg> = z.object({
  provider: z.string(),
  sourceIndex: z.int(),
  kind: z.enum(["transfer", "swap", "bridge"]),
  expectedOutBase: storedBase,
  minOutBase: storedBase,
  steps: z.array(
    z.object({
      kind: z.enum(["swap", "bridge", "transfer"]),
      venue: z.string(),
      from: storedToken,
      to: storedToken,
      amountInBase: storedBase,
      amountOutBase: storedBase,
    }),
  ),
  way: z.string().optional(),
  fees: z.array(
    z.object({ kind: z.enum(["bridge", "swap"]), token: storedToken, amountBase: storedBase }),
  ),
  estimatedSeconds: z.number(),
  priceImpactBps: z.number(),
  plan: z.unknown(),
});
