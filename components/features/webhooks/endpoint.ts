import { apiPages, apiQuery } from "@/components/features/session/api-query";
import { useWholeList } from "@/components/features/session/use-lists";
import {
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
} from "@/lib/api-client/calls.gen";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import type { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";

export type Endpoint = ResponseOf<typeof getWebhookEndpoint>;
export type NewEndpoint = ResponseOf<typeof createWebhookEndpoint>;
export type Delivery = ResponseOf<typeof listDeliveries>["data"][number];

/** The name of an endpoint: its description, or without one its URL. */
export const endpointName = ({
  description,
  url,
}: Pick<Endpoint, "description" | "url">): string => {
  const name = description?.trim() ?? "";
  return name === "" ? shortUrl(url) : name;
};

/** The URL without its scheme and trailing slash. */
export const shortUrl = (url: string): string =>
  url.replace(/^https?:\/\//, "").replace(/\/$/, "");

/** The project's webhook endpoints, oldest first. */
export const endpointsQuery = apiPages(listWebhookEndpoints, {});

/**
 * The project's webhook endpoints.
 *
 * @param refetchIntervalMs polling interval; without it, the list is read again only after changes
 * on this page
 */
export const useEndpoints = (refetchIntervalMs?: number) =>
  useWholeList(endpointsQuery, refetchIntervalMs);

export const endpointQuery = (id: string) => apiQuery(getWebhookEndpoint, { params: { id } });

export const deliveriesQuery = (
  id: string,
  query: NonNullable<QueryInput<typeof listDeliveries>>,
) => apiQuery(listDeliveries, { params: { id }, query });
