import type { ResponseOf } from "@/lib/contracts/contract";
import type { createWebhookEndpoint, getWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import type { listDeliveries } from "@/lib/contracts/webhook-deliveries";

export type Endpoint = ResponseOf<typeof getWebhookEndpoint>;
export type NewEndpoint = ResponseOf<typeof createWebhookEndpoint>;
export type Delivery = ResponseOf<typeof listDeliveries>["data"][number];

/** The host and path, without what every URL begins with. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
