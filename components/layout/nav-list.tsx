"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { Badge } from "@/components/ui/badge";
import { cn } from "@/components/ui/cn";
import { isCurrent, NAVIGATION } from "./navigation";

/** The places of the app, one below the other: in the sidebar and in the drawer of phones. */
export const NavList = ({ onNavigate }: { readonly onNavigate?: () => void }): ReactNode => {
  const path = usePathname();
  const { devnet } = usePublicConfig();
  return (
    <nav aria-label="Main">
      <ul className="flex flex-col gap-0.5">
        {NAVIGATION.filter((item) => devnet || item.developmentOnly !== true).map(({ icon: Icon, ...item }) => {
          const current = isCurrent(item.href, path);
          return (
            <li key={item.href}>
              <Link
                href={item.href}
                {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
                aria-current={current ? "page" : undefined}
                className={cn(
                  "flex h-8 items-center gap-2.5 rounded-control px-2.5 touch-target",
                  current ? "bg-accent-tint font-medium text-accent" : "text-fg-2 hover:bg-sunken hover:text-fg",
                )}
              >
                <Icon className="size-4 shrink-0" aria-hidden />
                <span className="flex-1">{item.label}</span>
                {item.developmentOnly === true ? <Badge tone="warning">Dev</Badge> : null}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
};
