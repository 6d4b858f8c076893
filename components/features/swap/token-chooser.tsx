"use client";

import { Command } from "cmdk";
import { Check } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { HeldAside } from "@/components/features/money-flow/amount-entry";
import { cn } from "@/components/ui/cn";
import { HeldWorth } from "@/components/ui/amount";
import { GROUP_LOOKS, Picker } from "@/components/ui/combobox";
import { TokenOnChainMark } from "@/components/ui/marks";

export interface TokenChoice {
  /** Unique among the choices. */
  readonly key: string;
  readonly symbol: string;
  readonly chainName: string;
  /** Muted second line, for instance the wallet. */
  readonly description: string;
  readonly mark?: ReactNode;
  /** The balance; null when there is none to show. */
  readonly amount: string | null;
  readonly usd: string | null;
  readonly group?: string;
  /** Further words that the search matches. */
  readonly keywords: readonly string[];
}

interface TokenChooserProps {
  readonly chosen: Pick<TokenChoice, "symbol" | "chainName"> | null;
  readonly chosenKey: string;
  /** Returns the choices. Called only when the list opens, because there may be many. */
  readonly choicesOf: () => readonly TokenChoice[];
  readonly onChoose: (key: string) => void;
  readonly searchPlaceholder: string;
}

/**
 * A list in which a person chooses a token together with its chain. For a source of the swap, an
 * entry also names the wallet that holds the token. The `BareField` around the list gives its
 * button the accessible name.
 */
export const TokenChooser = ({ chosen, onChoose, ...list }: TokenChooserProps): ReactNode => {
  const [open, setOpen] = useState(false);
  return (
    <Picker
      bare
      open={open}
      onOpenChange={setOpen}
      width="w-[26rem]"
      shown={
        chosen === null ? (
          <span className="truncate text-fg-3">Choose a token</span>
        ) : (
          <span className="flex min-w-0 flex-col text-fg-2 sm:flex-row sm:gap-1">
            <span className="truncate font-medium text-fg">{chosen.symbol}</span>{" "}
            <span className="truncate max-sm:text-sm">on {chosen.chainName}</span>
          </span>
        )
      }
    >
      <Choices
        {...list}
        onChoose={(key) => {
          onChoose(key);
          setOpen(false);
        }}
      />
    </Picker>
  );
};

/**
 * The maximum number of choices that the list renders, so that it opens quickly. A search finds
 * the other choices.
 */
const SHOWN_MAX = 60;

const textOf = (choice: TokenChoice): string =>
  [choice.symbol, "on", choice.chainName, choice.description, ...choice.keywords]
    .join(" ")
    .toLowerCase();

const groupsOf = (choices: readonly TokenChoice[]): [string, TokenChoice[]][] => {
  const groups = new Map<string, TokenChoice[]>();
  for (const choice of choices) {
    const group = choice.group ?? "";
    groups.set(group, [...(groups.get(group) ?? []), choice]);
  }
  return [...groups];
};

const Choices = ({
  chosenKey,
  choicesOf,
  onChoose,
  searchPlaceholder,
}: Omit<TokenChooserProps, "chosen">): ReactNode => {
  const [search, setSearch] = useState("");
  const all = useMemo(
    () => choicesOf().map((choice) => ({ choice, text: textOf(choice) })),
    [],
  );
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(({ text }) => words.every((word) => text.includes(word)));
  const shown = found.slice(0, SHOWN_MAX).map(({ choice }) => choice);
  const more = found.length - shown.length;
  return (
    <Command label={searchPlaceholder} shouldFilter={false}>
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder={searchPlaceholder}
        className="h-9 w-full border-b bg-transparent px-3 outline-none placeholder:text-fg-3"
      />
      <Command.List className="max-h-80 overflow-y-auto p-1">
        <Command.Empty className="px-2 py-3 text-sm text-fg-3">
          No such token on these chains.
        </Command.Empty>
        {groupsOf(shown).map(([group, members]) => (
          <Command.Group
            key={group}
            heading={group === "" ? undefined : group}
            className={GROUP_LOOKS}
          >
            {members.map((choice) => (
              <Choice
                key={choice.key}
                choice={choice}
                isChosen={choice.key === chosenKey}
                onChoose={onChoose}
              />
            ))}
          </Command.Group>
        ))}
      </Command.List>
      {more <= 0 ? null : (
        <p className="border-t px-3 py-1.5 text-xs text-fg-3">{more} more: search for them</p>
      )}
    </Command>
  );
};

interface ChoiceProps {
  readonly choice: TokenChoice;
  readonly isChosen: boolean;
  readonly onChoose: (key: string) => void;
}

const Choice = ({ choice, isChosen, onChoose }: ChoiceProps): ReactNode => (
  <Command.Item
    value={choice.key}
    onSelect={() => onChoose(choice.key)}
    className="flex min-h-11 cursor-default items-center gap-3 rounded-control px-2 py-1 data-[selected=true]:bg-sunken"
  >
    <TokenOnChainMark symbol={choice.symbol} chainName={choice.chainName} />
    <span className="min-w-0 flex-1">
      <span className="block truncate">
        <span className="font-medium">{choice.symbol}</span>{" "}
        <span className="text-fg-2">on {choice.chainName}</span>
      </span>{" "}
      <span className="flex items-center gap-1 text-xs text-fg-3">
        {choice.mark}
        <span className="truncate">{choice.description}</span>
      </span>
    </span>{" "}
    {choice.amount === null ? null : (
      <span className="text-right">
        <HeldAside amount={choice.amount} symbol={choice.symbol} />{" "}
        {choice.usd === null ? null : (
          <span className="block text-xs text-fg-3">
            <HeldWorth value={choice.usd} plain />
          </span>
        )}
      </span>
    )}
    <Check
      className={cn("size-4 shrink-0 text-accent", !isChosen && "invisible")}
      aria-hidden
    />
  </Command.Item>
);
