import { z } from "zod";

// Every version of the service and other modules write payloads, so each field may be missing.
const fields = z.looseObject({
  kind: z.string().optional(),
  transferId: z.string().nullish(),
  title: z.string().optional(),
  subjectId: z.string().optional(),
  scope: z.string().optional(),
  name: z.string().optional(),
  role: z.string().optional(),
  changedBy: z.string().optional(),
  createdBy: z.string().optional(),
  itemsTotal: z.number().optional(),
  itemsFailed: z.number().optional(),
  chainId: z.number().optional(),
  walletId: z.string().optional(),
  token: z.object({ symbol: z.string(), address: z.string() }).optional(),
  amount: z.string().optional(),
  failure: z.looseObject({ code: z.string().optional(), message: z.string().optional() }).nullish(),
});

/** The members of an event's payload that its news show. */
export type EventPayload = z.output<typeof fields>;

/** Column `event.payload` (JSON). A payload of another shape says nothing, so that it does not keep later events waiting. */
export const parseEventPayload = (text: string): EventPayload => fields.safeParse(JSON.parse(text)).data ?? {};
