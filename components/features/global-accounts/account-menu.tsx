"use client";

import { CircleSlash, Ellipsis, Pencil, Snowflake, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ChangeDialog, ConfirmChange } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { isZero } from "@/components/features/swap/decimal";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { ActionDialog } from "@/components/ui/dialog";
import { DropdownMenu, MenuItem, MenuSeparator } from "@/components/ui/dropdown-menu";
import { TextDialog } from "@/components/ui/text-dialog";
import { toast } from "@/components/ui/toast";
import {
  closeGlobalAccount,
  freezeGlobalAccount,
  getGlobalAccount,
  listGlobalAccounts,
  unfreezeGlobalAccount,
  updateGlobalAccount,
} from "@/lib/api-client/calls.gen";
import { type Account, accountName, accountQuery } from "./account";

const UNCHANGED = "The account is as it was.";

type Task = "rename" | "freeze" | "unfreeze" | "close";

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

const NAME_MAX = 80;

const RenameAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const rename = useApiMutation(updateGlobalAccount);
  const show = useShowAccount();
  const params = { id: account.id };
  const bodyOf = (text: string) => ({ name: text === "" ? null : text });
  return (
    <TextDialog
      onClose={onClose}
      title="Rename the account"
      description="Only the name that people see changes."
      field="name"
      label="Name"
      hint="Leave it empty for an account without a name."
      lengthMax={NAME_MAX}
      defaultValue={account.name ?? ""}
      act="Rename"
      money={UNCHANGED}
      action={rename}
      onText={async (text) => {
        const renamed = await rename
          .mutateAsync({ params, body: bodyOf(text) })
          .catch(() => null);
        if (renamed === null) return;
        show(renamed);
        toast.success("The account is renamed.");
        onClose();
      }}
      snippet={(text) => (
        <ApiSnippet call={updateGlobalAccount} params={params} body={bodyOf(text)} />
      )}
    />
  );
};

const REASON_MAX = 200;

const FreezeAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const freeze = useApiMutation(freezeGlobalAccount);
  const show = useShowAccount();
  const params = { id: account.id };
  return (
    <TextDialog
      onClose={onClose}
      title={`Freeze ${accountName(account)}`}
      description="Nothing goes in or out of a frozen account. Its balance stays. An owner or admin can unfreeze it."
      field="reason"
      label="Reason"
      hint="Your team sees it, and the audit log keeps it."
      lengthMax={REASON_MAX}
      emptyProblem="Enter the reason."
      act="Freeze account"
      tone="danger"
      money={UNCHANGED}
      action={freeze}
      onText={async (reason) => {
        const frozen = await freeze.mutateAsync({ params, body: { reason } }).catch(() => null);
        if (frozen === null) return;
        show(frozen);
        toast.success("The account is frozen.");
        onClose();
      }}
      snippet={(reason) => (
        <ApiSnippet call={freezeGlobalAccount} params={params} body={{ reason }} />
      )}
    />
  );
};

/** Unfreezes an account. This needs an approval, because money can leave the account afterwards. */
const UnfreezeAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const api = useApi();
  const show = useShowAccount();
  const params = { id: account.id };
  const change = useApprovable<null>(
    `account.unfreeze ${account.id}`,
    async (_input, proof) => {
      show(await api.call(unfreezeGlobalAccount, { params, body: proof }));
      toast.success("The account can be used again.");
      onClose();
    },
  );
  return (
    <ChangeDialog
      change={change}
      onClose={onClose}
      title={`Unfreeze ${accountName(account)}`}
      description="It can then pay and be paid again."
    >
      <ConfirmChange
        change={change}
        input={null}
        money="The account stays frozen."
        act="Unfreeze account"
        onCancel={onClose}
        snippet={
          <ApiSnippet call={unfreezeGlobalAccount} params={params} auth="bearer" body={{}} />
        }
      >
        <p>
          {account.statusReason === null
            ? "No reason was given when it was frozen."
            : `Frozen because: ${account.statusReason}`}
        </p>
      </ConfirmChange>
    </ChangeDialog>
  );
};

/**
 * Asks before an account is closed, which cannot be undone. The service refuses an account that
 * holds money.
 */
const CloseAccountDialog = ({ account, onClose }: AccountDialogProps): ReactNode => {
  const close = useApiMutation(closeGlobalAccount);
  const show = useShowAccount();
  return (
    <ActionDialog
      onClose={onClose}
      title={`Close ${accountName(account)}?`}
      description={
        <>
          <p>
            Nothing can go in or out of a closed account, and it cannot be opened again. Its
            entries and statements stay readable.
          </p>
          {isZero(account.balance.posted) ? null : (
            <p className="pt-2 text-warning">
              It holds <Amount value={account.balance.posted} unit={account.currency} />. Pay
              that out, or take its fundings back, and then close it.
            </p>
          )}
        </>
      }
      action={close}
      money={UNCHANGED}
      confirmLabel="Close account"
      onConfirm={async () => {
        show(await close.mutateAsync({ params: { id: account.id }, body: {} }));
        toast.success("The account is closed.");
      }}
    />
  );
};

interface AccountDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

const useShowAccount = (): ((account: Account) => void) => {
  const cache = useCache();
  return (account) => {
    cache.set(accountQuery(account.id), account);
    void cache.refresh(getGlobalAccount, listGlobalAccounts);
  };
};
