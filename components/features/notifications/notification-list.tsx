"use client";

import { CircleAlert, CirclePause, Coins, Fuel, KeyRound, ScrollText, UserPlus, type LucideIcon } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { useHideableText } from "@/components/ui/hideable-text";
import { Time } from "@/components/ui/time";
import type { Notification } from "./use-notifications";

const ICONS: Readonly<Record<Notification["kind"], { readonly icon: LucideIcon; readonly looks: string }>> = {
  approval_waiting: { icon: CirclePause, looks: "text-warning" },
  operation_failed: { icon: CircleAlert, looks: "text-danger" },
  large_deposit: { icon: Coins, looks: "text-success" },
  gas_low: { icon: Fuel, looks: "text-warning" },
  member_joined: { icon: UserPlus, looks: "text-fg-3" },
  key_created: { icon: KeyRound, looks: "text-fg-3" },
  policy_changed: { icon: ScrollText, looks: "text-fg-3" },
};

interface NotificationListProps {
  readonly items: readonly Notification[];
  /** Called when a person opens one. */
  readonly onOpen: (notification: Notification) => void;
}

/** Each links to its object; unread ones are bold and say so. */
export const NotificationList = ({ items, onOpen }: NotificationListProps): ReactNode => (
  <ul className="divide-y" aria-label="Notifications">
    {items.map((one) => (
      <Line key={one.id} notification={one} onOpen={() => onOpen(one)} />
    ))}
  </ul>
);

const Line = ({
  notification: { kind, title, detail, path, createdAt, readAt },
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
        <Icon className={cn("mt-0.5 size-4 shrink-0", looks)} aria-hidden />
        <span className="min-w-0 flex-1">
          <span className={cn("block wrap-anywhere", isUnread && "font-medium")}>{hideable(title)}</span>
          <span className="flex flex-wrap items-baseline gap-x-3 text-sm">
            {detail === null ? null : <span className="line-clamp-2 wrap-anywhere text-fg-2">{hideable(detail)}</span>}
            <Time value={createdAt} className="text-fg-3" />
          </span>
        </span>
        {isUnread ? (
          <span className="mt-1.5 size-2 shrink-0 rounded-full bg-accent" role="img" aria-label="Unread" />
        ) : null}
      </Link>
    </li>
  );
};
