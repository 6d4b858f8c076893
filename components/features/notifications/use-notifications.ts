"use client";

import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { listNotifications, readNotifications } from "@/lib/api-client/calls.gen";

export type NotificationsPage = ResponseOf<typeof listNotifications>;
export type Notification = NotificationsPage["data"][number];

const PANEL_SHOWS = 8;

/** The newest ones and the number of unread ones. */
export const useNewestNotifications = (): UseQueryResult<NotificationsPage> =>
  useApiQuery(listNotifications, { query: { limit: PANEL_SHOWS } }, { live: true });

/** Newest first, page after page. */
export const useNotificationPages = (): Pages<Notification> => {
  const api = useApi();
  return usePages({
    queryKey: queryKeyOf(listNotifications),
    read: (page, signal) => api.call(listNotifications, { query: page, signal }),
    refreshMs: "live",
  });
};

/** Marks notifications as read. When it fails they stay unread, which the list shows. */
export const useRead = (): ((read: BodyInput<typeof readNotifications>) => Promise<void>) => {
  const api = useApi();
  const queryClient = useQueryClient();
  return async (body) => {
    await api.call(readNotifications, { body }).catch(() => undefined);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listNotifications) });
  };
};
