"use client";

import { Command } from "cmdk";
import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useEffect, useState, type ReactNode } from "react";
import { useApiQuery } from "@/components/features/session/use-api";
import { cn } from "@/components/ui/cn";
import { CONTROL_LOOKS, useFieldProps } from "@/components/ui/field";
import { HeldAmount } from "@/components/ui/held-amount";
import { listGlobalAccounts } from "@/lib/api-client/calls.gen";
import { isId } from "@/lib/core/ids";
import { accountName, shortId, type Account } from "./account";
import { useKnownAccounts } from "./use-accounts";

const SETTLE_MS = 250;
const OFFERED_MAX = 20;
const SEARCH_MAX = 80;
const STALE_MS = 5_000;

interface AccountPickerProps {
  /** Id, or whatever was typed instead; empty where nothing was chosen. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  /** Only accounts of this asset are offered. */
  readonly currency?: string | undefined;
  /** Never offered. */
  readonly except?: string | undefined;
}

/** An account by name or id, searched at the service; an id that was pasted is taken as it is. Stands inside a `Field`. */
export const AccountPicker = ({ value, onChange, ...narrowed }: AccountPickerProps): ReactNode => {
  const [open, setOpen] = useState(false);
  const field = useFieldProps({});
  const chosen = useKnownAccounts().find(({ id }) => id === value);
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
            {value === "" ? "Choose, or paste an id" : chosen === undefined ? shortId(value) : accountName(chosen)}
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

const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
};

const Offers = ({ value, choose, currency, except }: OffersProps): ReactNode => {
  const [text, setText] = useState("");
  const q = useSettled(text.trim().slice(0, SEARCH_MAX));
  const { data, isPending, isError } = useApiQuery(
    listGlobalAccounts,
    {
      query: { limit: OFFERED_MAX, ...(q === "" ? {} : { q }), ...(currency === undefined ? {} : { currency }) },
    },
    { staleTimeMs: STALE_MS },
  );
  const accounts = (data?.data ?? []).filter(({ id, status }) => id !== except && status === "active");
  const pasted = text.trim();
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
          <Offer id={pasted} choose={choose} title={<code className="font-mono text-sm break-all">{pasted}</code>} />
        ) : null}
        {accounts.map((account) => (
          <Offer key={account.id} id={account.id} choose={choose} {...offerOf(account)} />
        ))}
        <Command.Empty className="px-2 py-3 text-sm text-fg-3">
          {isPending ? "Looking …" : isError ? "The accounts cannot be read now; paste an id." : "No such account."}
        </Command.Empty>
      </Command.List>
    </Command>
  );
};

const offerOf = (account: Account): Pick<OfferProps, "title" | "description" | "aside"> => ({
  title: accountName(account),
  ...(account.name === null ? {} : { description: shortId(account.id) }),
  aside: <HeldAmount value={account.balance.available} unit={account.currency} plain className="text-sm text-fg-2" />,
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
