"use client";

import { Command } from "cmdk";
import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState, type ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { HeldAmount } from "@/components/ui/amount";
import { cn } from "@/components/ui/cn";
import { CONTROL_LOOKS, useFieldProps } from "@/components/ui/field";
import { useSettled } from "@/components/ui/use-settled";
import { listGlobalAccounts } from "@/lib/api-client/calls.gen";
import { isId } from "@/lib/core/ids";
import { type Account, accountName, SEARCH_MAX, shortId, useKnownAccounts } from "./account";

const OFFERED_MAX = 20;
const STALE_MS = 5_000;

interface AccountPickerProps {
  /** An account id, or any text from the page's address; empty when nothing is chosen. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  /** Offers only accounts of this asset. */
  readonly currency?: string | undefined;
  readonly except?: string | undefined;
}

/**
 * Chooses an account by name or id. The service searches, and a pasted id is used unchanged. Must
 * be inside a `Field`.
 */
export const AccountPicker = ({
  value,
  onChange,
  ...narrowed
}: AccountPickerProps): ReactNode => {
  const [open, setOpen] = useState(false);
  const field = useFieldProps({});
  const chosen = useKnownAccounts().find(({ id }) => id === value);
  const name = chosen === undefined ? shortId(value) : accountName(chosen);
  const choose = (id: string): void => {
    onChange(id);
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger
        {...field}
        type="button"
        role="combobox"
        aria-expanded={open}
        title={value === "" ? undefined : value}
        className={cn(CONTROL_LOOKS, "flex items-center justify-between gap-2 text-left")}
      >
        <span className="flex min-w-0 items-baseline gap-2">
          <span className={cn("max-w-full shrink-0 truncate", value === "" && "text-fg-3")}>
            {value === "" ? "Choose, or paste an id" : name}
          </span>
          {chosen?.name == null ? null : (
            <code className="truncate font-mono text-xs text-fg-3">{shortId(chosen.id)}</code>
          )}
        </span>
        <ChevronDown className="size-4 shrink-0 text-fg-3" aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 w-80 max-w-[calc(100vw-16px)] animate-fade-in rounded-card border bg-surface shadow-float"
        >
          <Offers {...narrowed} value={value} choose={choose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
};

interface OffersProps extends Omit<AccountPickerProps, "onChange"> {
  readonly choose: (id: string) => void;
}

const Offers = ({ value, choose, currency, except }: OffersProps): ReactNode => {
  const [text, setText] = useState("");
  const [q] = useSettled(text.trim().slice(0, SEARCH_MAX));
  const { data, isPending, isError } = useQuery({
    ...apiQuery(listGlobalAccounts, {
      query: {
        limit: OFFERED_MAX,
        q: q === "" ? undefined : q,
        currency,
      },
    }),
    staleTime: STALE_MS,
  });
  const accounts = (data?.data ?? []).filter(
    ({ id, status }) => id !== except && status === "active",
  );
  const pasted = text.trim();
  const none = isError ? "The accounts cannot be read now; paste an id." : "No such account.";
  return (
    <Command label="Accounts" shouldFilter={false} defaultValue={value}>
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Name or id"
        className="h-9 w-full border-b bg-transparent px-3 outline-none placeholder:text-fg-3"
      />
      <Command.List className="max-h-72 overflow-y-auto p-1">
        {isId("globalAccount", pasted) && !accounts.some(({ id }) => id === pasted) ? (
          <Offer
            id={pasted}
            choose={choose}
            title={<code className="font-mono text-sm break-all">{pasted}</code>}
          />
        ) : null}
        {accounts.map((account) => (
          <Offer key={account.id} id={account.id} choose={choose} {...offerOf(account)} />
        ))}
        <Command.Empty className="px-2 py-3 text-sm text-fg-3">
          {isPending ? "Looking …" : none}
        </Command.Empty>
      </Command.List>
    </Command>
  );
};

const offerOf = (account: Account): Pick<OfferProps, "title" | "description" | "aside"> => ({
  title: accountName(account),
  description: account.name === null ? undefined : shortId(account.id),
  aside: (
    <HeldAmount
      value={account.balance.available}
      unit={account.currency}
      plain
      className="text-sm text-fg-2"
    />
  ),
});

interface OfferProps {
  readonly id: string;
  readonly title: ReactNode;
  readonly description?: string;
  readonly aside?: ReactNode;
  readonly choose: (id: string) => void;
}

const Offer = ({ id, title, description, aside, choose }: OfferProps): ReactNode => (
  <Command.Item
    value={id}
    onSelect={() => choose(id)}
    className="flex min-h-8 cursor-default items-center gap-3 rounded-control px-2 py-1 data-[selected=true]:bg-sunken touch-target"
  >
    <span className="min-w-0 flex-1">
      <span className="block truncate">{title}</span>
      {description === undefined ? null : (
        <code className="block truncate font-mono text-xs text-fg-3">{description}</code>
      )}
    </span>
    {aside}
  </Command.Item>
);
