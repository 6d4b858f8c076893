"use client";

import { CircleUserRound, LogOut, Settings } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from "@/components/ui/dropdown-menu";

export const AccountMenu = (): ReactNode => {
  const { data } = useMe();
  const signOut = useSignOut();
  return (
    <DropdownMenu
      trigger={
        <Button size="sm" aria-label="Account">
          <CircleUserRound aria-hidden />
          <span className="font-mono max-sm:hidden">{data === undefined ? "Account" : shorten(data.address)}</span>
        </Button>
      }
    >
      <MenuLabel>
        {data === undefined ? "Signed in" : <code className="font-mono">{shorten(data.address, 10, 8)}</code>}
      </MenuLabel>
      <MenuSeparator />
      <MenuItem asChild>
        <Link href="/settings">
          <Settings aria-hidden /> Settings
        </Link>
      </MenuItem>
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </DropdownMenu>
  );
};
