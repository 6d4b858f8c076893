"use client";

import { Bell } from "lucide-react";
import Link from "next/link";
import { Popover } from "radix-ui";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { NotificationList } from "./notification-list";
import { useNewestNotifications, useRead } from "./use-notifications";

const SHOWN_MAX = 99;

const nameOf = (unread: number): string => (unread === 0 ? "Notifications" : `Notifications, ${unread} unread`);

/** The bell of the bar with the number of unread notifications; opens the newest of them. */
export const NotificationBell = (): ReactNode => {
  const [open, setOpen] = useState(false);
  const unread = useNewestNotifications().data?.unread ?? 0;
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button variant="ghost" size="sm" aria-label={nameOf(unread)} className="relative px-1.5">
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
  const { data, error, isPending, refetch } = useNewestNotifications();
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
        {isPending ? (
          <LoadingRows what="notifications" rows={3} />
        ) : data === undefined ? (
          <ErrorState compact error={error} onRetry={() => void refetch()} />
        ) : data.data.length === 0 ? (
          <EmptyState icon={Bell} title="Nothing new">
            Approvals that wait for you, failures and large deposits appear here.
          </EmptyState>
        ) : (
          <NotificationList
            items={data.data}
            onOpen={({ id, readAt }) => {
              onClose();
              if (readAt === null) void read({ ids: [id] });
            }}
          />
        )}
      </div>
      <div className="flex justify-between gap-4 border-t px-4 py-2 text-sm">
        <Link href="/notifications" className="link touch-target" onClick={onClose}>
          All notifications
        </Link>
        <Link href="/settings#notifications" className="link touch-target" onClick={onClose}>
          Settings
        </Link>
      </div>
    </>
  );
};
