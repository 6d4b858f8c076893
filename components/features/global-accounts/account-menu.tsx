"use client";

import { CircleSlash, Ellipsis, Pencil, Snowflake, Sun } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { useMay } from "@/components/features/projects/use-project";
import { Button } from "@/components/ui/button";
import { DropdownMenu, MenuItem, MenuSeparator } from "@/components/ui/dropdown-menu";
import type { Account } from "./account";
import { CloseAccountDialog } from "./close-account-dialog";
import { FreezeAccountDialog } from "./freeze-account-dialog";
import { RenameAccountDialog } from "./rename-account-dialog";
import { UnfreezeAccountDialog } from "./unfreeze-account-dialog";

type Task = "rename" | "freeze" | "unfreeze" | "close";

/** Everything about an account that moves no money. */
export const AccountMenu = ({ account }: { readonly account: Account }): ReactNode => {
  const [task, setTask] = useState<Task | null>(null);
  const mayRename = useMay("records:write");
  const mayMove = useMay("money:move");
  const mayUnfreeze = useMay("policies:manage");
  useReopen(`account.unfreeze ${account.id}`, () => setTask("unfreeze"));
  const stop = (): void => setTask(null);
  if (!mayRename) return null;
  const { status } = account;
  return (
    <>
      <DropdownMenu
        trigger={
          <Button aria-label="More actions">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem onSelect={() => setTask("rename")}>
          <Pencil aria-hidden /> Rename
        </MenuItem>
        {status === "active" && mayMove ? (
          <MenuItem onSelect={() => setTask("freeze")}>
            <Snowflake aria-hidden /> Freeze
          </MenuItem>
        ) : null}
        {status === "frozen" && mayUnfreeze ? (
          <MenuItem onSelect={() => setTask("unfreeze")}>
            <Sun aria-hidden /> Unfreeze
          </MenuItem>
        ) : null}
        {status === "closed" || !mayMove ? null : (
          <>
            <MenuSeparator />
            <MenuItem danger onSelect={() => setTask("close")}>
              <CircleSlash aria-hidden /> Close account
            </MenuItem>
          </>
        )}
      </DropdownMenu>
      {task === "rename" ? <RenameAccountDialog account={account} onClose={stop} /> : null}
      {task === "freeze" ? <FreezeAccountDialog account={account} onClose={stop} /> : null}
      {task === "unfreeze" ? <UnfreezeAccountDialog account={account} onClose={stop} /> : null}
      {task === "close" ? <CloseAccountDialog account={account} onClose={stop} /> : null}
    </>
  );
};
