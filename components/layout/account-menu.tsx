"use client";

import { CircleUserRound, Eye, EyeOff, LogOut, Settings } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useMe, type Me } from "@/components/features/profile/use-me";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { shorten } from "@/components/ui/address";
import { AddressMark } from "@/components/ui/address-mark";
import { Button } from "@/components/ui/button";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { DropdownMenu, MenuItem, MenuLabel, MenuSeparator } from "@/components/ui/dropdown-menu";

/** The verified e-mail address, else the wallet with which the person signs in. */
const Who = ({ me }: { readonly me: Me | undefined }): ReactNode => {
  if (me === undefined) return <span className="max-sm:hidden">Account</span>;
  return me.email !== null && me.emailVerified ? (
    <span className="max-w-24 truncate max-sm:hidden lg:max-w-40 xl:max-w-56" title={me.email}>
      {me.email}
    </span>
  ) : (
    <span className="font-mono max-sm:hidden">{shorten(me.address)}</span>
  );
};

export const AccountMenu = (): ReactNode => {
  const { data } = useMe();
  const signOut = useSignOut();
  const [hidden, setHidden] = useHiddenAmounts();
  return (
    <DropdownMenu
      trigger={
        <Button size="sm" aria-label="Account">
          {data === undefined ? <CircleUserRound aria-hidden /> : <AddressMark value={data.address} />}
          <Who me={data} />
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
      <MenuItem onSelect={() => setHidden(!hidden)}>
        {hidden ? <Eye aria-hidden /> : <EyeOff aria-hidden />} {hidden ? "Show amounts" : "Hide amounts"}
      </MenuItem>
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </DropdownMenu>
  );
};
