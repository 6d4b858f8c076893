"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import {
  Bell,
  CircleAlert,
  CirclePause,
  Coins,
  Fuel,
  KeyRound,
  type LucideIcon,
  ScrollText,
  UserPlus,
} from "lucide-react";
import Link from "next/link";
import { Popover } from "radix-ui";
import { type ReactNode, useState } from "react";
import { apiPages, apiQuery, PAGE_ROWS } from "@/components/features/session/api-query";
import { PagedCard } from "@/components/features/session/paged-card";
import { useApi, useCache, useLiveQuery } from "@/components/features/session/use-api";
import { usePages } from "@/components/features/session/use-lists";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { Time } from "@/components/ui/time";
import { listNotifications, readNotifications } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";

export const Notifications = (): ReactNode => {
  const list = usePages(apiPages(listNotifications, { query: { limit: PAGE_ROWS } }));
  const unread = useNewestNotifications().data?.unread ?? 0;
  const read = useRead();
  const newest = list.data?.pages[0]?.data[0];
  return (
    <>
      <PageHeader
        title="Notifications"
        description="Events that you chose to see, kept for 90 days."
        actions={
          <>
            {newest === undefined || unread === 0 ? null : (
              <Button onClick={() => void read({ upTo: newest.id })}>Mark all as read</Button>
            )}
            <Button asChild>
              <Link href="/settings/notifications">Choose events</Link>
            </Button>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <PagedCard
          list={list}
          what="notifications"
          money="Payments do not depend on it."
          empty={
            <EmptyState icon={Bell} title="No notifications yet">
              Approvals that wait for you, failures and large deposits appear here.
            </EmptyState>
          }
        >
          {(items) => (
            <NotificationList
              items={items}
              onOpen={({ id, readAt }) => {
                if (readAt === null) void read({ ids: [id] });
              }}
            />
          )}
        </PagedCard>
      </div>
    </>
  );
};

const SHOWN_MAX = 99;

const nameOf = (unread: number): string =>
  unread === 0 ? "Notifications" : `Notifications, ${unread} unread`;

/**
 * The bell in the top bar, with the number of unread notifications. It opens a list of the newest
 * notifications.
 */
export const NotificationBell = (): ReactNode => {
  const [open, setOpen] = useState(false);
  const unread = useNewestNotifications().data?.unread ?? 0;
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button
          variant="ghost"
          size="sm"
          aria-label={nameOf(unread)}
          className="relative px-1.5"
        >
          <Bell aria-hidden />
          {unread === 0 ? null : (
            <span
              aria-hidden
              className="num absolute -top-1 -right-1 min-w-4 rounded-full bg-accent px-1 text-xs leading-4 font-medium text-on-accent"
            >
              {unread > SHOWN_MAX ? `${SHOWN_MAX}+` : unread}
            </span>
          )}
        </Button>
      </Popover.Trigger>
      <Popover.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        aria-label="Newest notifications"
        className="z-50 w-96 max-w-[calc(100vw-16px)] animate-fade-in overflow-hidden rounded-card border bg-surface shadow-float outline-none"
      >
        <Panel onClose={() => setOpen(false)} />
      </Popover.Content>
    </Popover.Root>
  );
};

const Panel = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const query = useNewestNotifications();
  const { data } = query;
  const read = useRead();
  const newest = data?.data[0];
  return (
    <>
      <div className="flex min-h-10 items-center justify-between gap-2 border-b px-4">
        <h2 className="font-semibold">Notifications</h2>
        {newest === undefined || data?.unread === 0 ? null : (
          <Button size="sm" variant="ghost" onClick={() => void read({ upTo: newest.id })}>
            Mark all as read
          </Button>
        )}
      </div>
      <div className="max-h-[min(28rem,60dvh)] overflow-y-auto">
        <QueryContent
          query={query}
          what="notifications"
          rows={3}
          compact
          empty={
            <EmptyState icon={Bell} title="Nothing new">
              Approvals that wait for you, failures and large deposits appear here.
            </EmptyState>
          }
        >
          {(data) => (
            <NotificationList
              items={data.data}
              onOpen={({ id, readAt }) => {
                onClose();
                if (readAt === null) void read({ ids: [id] });
              }}
            />
          )}
        </QueryContent>
      </div>
      <div className="flex justify-between gap-4 border-t px-4 py-2 text-sm">
        <Link href="/notifications" className="link touch-target" onClick={onClose}>
          All notifications
        </Link>
        <Link href="/settings/notifications" className="link touch-target" onClick={onClose}>
          Settings
        </Link>
      </div>
    </>
  );
};

const ICONS: Readonly<
  Record<Notification["kind"], { readonly icon: LucideIcon; readonly looks: string }>
> = {
  approval_waiting: { icon: CirclePause, looks: "text-warning" },
  operation_failed: { icon: CircleAlert, looks: "text-danger" },
  large_deposit: { icon: Coins, looks: "text-success" },
  gas_low: { icon: Fuel, looks: "text-warning" },
  member_joined: { icon: UserPlus, looks: "text-fg-3" },
  key_created: { icon: KeyRound, looks: "text-fg-3" },
  policy_changed: { icon: ScrollText, looks: "text-fg-3" },
};

const ENDED_WORDS = {
  approved: "Approved",
  declined: "Declined",
  expired: "Expired",
  cancelled: "Cancelled",
} as const satisfies Record<NonNullable<Notification["ended"]>, string>;

interface NotificationListProps {
  readonly items: readonly Notification[];
  readonly onOpen: (notification: Notification) => void;
}

/**
 * Notifications as links to their objects. Unread ones are bold, and marked as unread for screen
 * readers.
 */
const NotificationList = ({ items, onOpen }: NotificationListProps): ReactNode => (
  <ul className="divide-y" aria-label="Notifications">
    {items.map((one) => (
      <Line key={one.id} notification={one} onOpen={() => onOpen(one)} />
    ))}
  </ul>
);

const Line = ({
  notification: { kind, title, detail, path, createdAt, readAt, ended },
  onOpen,
}: {
  readonly notification: Notification;
  readonly onOpen: () => void;
}): ReactNode => {
  const { icon: Icon, looks } = ICONS[kind];
  const hideable = useHideableText();
  const isUnread = readAt === null;
  return (
    <li>
      <Link
        href={path}
        onClick={onOpen}
        className="flex gap-3 px-4 py-2.5 -outline-offset-2 hover:bg-sunken focus-visible:bg-sunken"
      >
        <Icon
          className={cn("mt-0.5 size-4 shrink-0", ended === null ? looks : "text-fg-3")}
          aria-hidden
        />
        <span className="min-w-0 flex-1">
          <span className={cn("block wrap-anywhere", isUnread && "font-medium")}>
            {hideable(title)}
          </span>
          <span className="flex flex-wrap items-baseline gap-x-3 text-sm">
            {detail === null ? null : (
              <span className="line-clamp-2 wrap-anywhere text-fg-2">{hideable(detail)}</span>
            )}
            {ended === null ? null : <Badge>{ENDED_WORDS[ended]}</Badge>}
            <Time value={createdAt} className="text-fg-3" />
          </span>
        </span>
        {isUnread ? (
          <span
            className="mt-1.5 size-2 shrink-0 rounded-full bg-accent"
            role="img"
            aria-label="Unread"
          />
        ) : null}
      </Link>
    </li>
  );
};

type NotificationsPage = ResponseOf<typeof listNotifications>;
type Notification = NotificationsPage["data"][number];

const PANEL_SHOWS = 8;

const useNewestNotifications = (): UseQueryResult<NotificationsPage> =>
  useLiveQuery(apiQuery(listNotifications, { query: { limit: PANEL_SHOWS } }));

/**
 * Marks notifications as read. Errors are ignored, because the list then still shows them as
 * unread.
 */
const useRead = (): ((read: BodyInput<typeof readNotifications>) => Promise<void>) => {
  const api = useApi();
  const cache = useCache();
  return async (body) => {
    await api.call(readNotifications, { body }).catch(() => undefined);
    await cache.refresh(listNotifications);
  };
};
