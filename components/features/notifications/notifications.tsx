"use client";

import { Bell } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { PagedCard } from "@/components/features/session/paged-card";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { PageHeader } from "@/components/ui/page-header";
import { NotificationList } from "./notification-list";
import { useNewestNotifications, useNotificationPages, useRead } from "./use-notifications";

/** All notifications of the person in this project. */
export const Notifications = (): ReactNode => {
  const list = useNotificationPages();
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
              <Link href="/settings#notifications">Choose events</Link>
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
