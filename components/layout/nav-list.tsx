"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useId, type ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { Badge } from "@/components/ui/badge";
import { cn } from "@/components/ui/cn";
import { isCurrent, NAVIGATION, NAVIGATION_GROUPS, type NavigationItem } from "./navigation";

interface NavListProps {
  readonly onNavigate?: () => void;
}

export const NavList = ({ onNavigate }: NavListProps): ReactNode => {
  const { devnet } = usePublicConfig();
  const id = useId();
  const shown = NAVIGATION.filter((item) => devnet || item.developmentOnly !== true);
  return (
    <nav aria-label="Main" className="flex flex-col gap-2">
      {NAVIGATION_GROUPS.map((group) => (
        <div key={group}>
          <p id={`${id}-${group}`} className="px-2.5 pb-0.5 text-xs font-medium text-fg-3">
            {group}
          </p>
          <ul aria-labelledby={`${id}-${group}`} className="flex flex-col gap-px">
            {shown
              .filter((item) => item.group === group)
              .map((item) => (
                <NavItem key={item.href} item={item} onNavigate={onNavigate} />
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
};

interface NavItemProps {
  readonly item: NavigationItem;
  readonly onNavigate: (() => void) | undefined;
}

const NavItem = ({ item: { icon: Icon, ...item }, onNavigate }: NavItemProps): ReactNode => {
  const current = isCurrent(item.href, usePathname());
  return (
    <li>
      <Link
        href={item.href}
        onClick={onNavigate}
        aria-current={current ? "page" : undefined}
        className={cn(
          "flex h-7.5 items-center md:h-7 gap-2.5 rounded-control px-2.5 touch-target",
          current
            ? "bg-accent-tint font-medium text-accent"
            : "text-fg-2 hover:bg-sunken hover:text-fg",
        )}
      >
        <Icon className="size-4 shrink-0" aria-hidden />
        <span className="flex-1">{item.label}</span>
        {item.developmentOnly === true ? <Badge tone="warning">Dev</Badge> : null}
      </Link>
    </li>
  );
};
