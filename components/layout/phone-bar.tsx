"use client";

import { Menu } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { isCurrent, NAVIGATION } from "./navigation";

const ITEM_LOOKS = "flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs";

/** The bar at the bottom of phones. */
export const PhoneBar = ({ onMore }: { readonly onMore: () => void }): ReactNode => {
  const path = usePathname();
  return (
    <nav
      aria-label="Quick"
      className="fixed inset-x-0 bottom-0 z-30 flex border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden print:hidden"
    >
      {NAVIGATION.filter((item) => item.onPhoneBar === true).map(({ icon: Icon, ...item }) => {
        const current = isCurrent(item.href, path);
        return (
          <Link
            key={item.href}
            href={item.href}
            aria-current={current ? "page" : undefined}
            className={cn(ITEM_LOOKS, current ? "font-medium text-accent" : "text-fg-2")}
          >
            <Icon className="size-5" aria-hidden />
            {item.label}
          </Link>
        );
      })}
      <button type="button" onClick={onMore} className={cn(ITEM_LOOKS, "text-fg-2")}>
        <Menu className="size-5" aria-hidden />
        More
      </button>
    </nav>
  );
};
