import type { ResponseOf } from "@/lib/contracts/contract";
import type { createWebhookEndpoint, getWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import type { listDeliveries } from "@/lib/contracts/webhook-deliveries";

export type Endpoint = ResponseOf<typeof getWebhookEndpoint>;
export type NewEndpoint = ResponseOf<typeof createWebhookEndpoint>;
export type Delivery = ResponseOf<typeof listDeliveries>["data"][number];

/** Its description, which people read as its name; the URL where it has none. */
export const endpointName = ({ description, url }: Pick<Endpoint, "description" | "url">): string => {
  const name = description?.trim() ?? "";
  return name === "" ? shortUrl(url) : name;
};

/** The host and path, without what every URL begins with. */
export const shortUrl = (url: string): string => url.replace(/^https?:\/\//, "").replace(/\/$/, "");
