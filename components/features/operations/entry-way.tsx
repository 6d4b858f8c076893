"use client";

import { Landmark, ShieldCheck, Users } from "lucide-react";
import type { ReactNode } from "react";
import { Counterparty } from "@/components/features/deposits/counterparty";
import { Party } from "@/components/features/names/party";
import { shorten } from "@/components/ui/address";
import { usePublicConfig } from "@/components/providers/public-config";
import { ChainName } from "@/components/ui/chain-name";
import { cn } from "@/components/ui/cn";
import { ChainMark } from "@/components/ui/marks";
import type { ActivityRow } from "./activity-entry";

/** One chain by its name, several by their marks, with their number where there is room. They are always whole: the name beside them gives way first. */
const Chains = ({ ids }: { readonly ids: readonly number[] }): ReactNode => {
  const { chains } = usePublicConfig();
  const [only, ...others] = [...new Set(ids)];
  if (only === undefined) return null;
  if (others.length === 0)
    return (
      <span className="shrink-0">
        <ChainName chainId={only} />
      </span>
    );
  const names = [only, ...others].map((id) => chains.find((chain) => chain.id === id)?.name ?? `Chain ${String(id)}`);
  return (
    <span className="inline-flex shrink-0 items-center gap-1 align-middle whitespace-nowrap" title={names.join(", ")}>
      {names.slice(0, MARKS_MAX).map((name) => (
        <ChainMark key={name} name={name} />
      ))}
      <span aria-hidden className="@min-[60rem]:hidden">
        {names.length} chains
      </span>
      <span className="sr-only">{names.join(", ")}</span>
    </span>
  );
};

const MARKS_MAX = 3;

const Marked = ({ mark, title, className, children }: MarkedProps): ReactNode => (
  <span className={cn("inline-flex max-w-36 min-w-0 items-center gap-1.5 align-middle", className)} title={title}>
    {mark}
    <span className="truncate">{children}</span>
  </span>
);

interface MarkedProps {
  readonly mark: ReactNode;
  readonly title?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

const MARK = "size-4 shrink-0 text-fg-3";

const Account = ({ accountId, name }: { readonly accountId: string; readonly name: string | null }): ReactNode => (
  <Marked mark={<Landmark aria-hidden className={MARK} />} title={accountId}>
    {name ?? shorten(accountId, 8)}
  </Marked>
);

/** Who receives it; an account, a wallet, or all recipients of a payout. */
const Receiver = ({ party }: { readonly party: NonNullable<ActivityRow["counterparty"]> }): ReactNode => {
  switch (party.type) {
    case "address":
      return <Party address={party.address} className="max-w-36" />;
    case "account":
      return <Account {...party} />;
    case "private_wallet":
      return (
        <Marked
          mark={<ShieldCheck aria-hidden className="size-4 shrink-0 text-private" />}
          title={party.privacyWalletId}
        >
          Private wallet
        </Marked>
      );
    case "recipients":
      return <Marked mark={<Users aria-hidden className={MARK} />}>{party.count} recipients</Marked>;
  }
};

const RESERVES = (
  <Marked mark={<Landmark aria-hidden className={MARK} />} className="shrink-0">
    Reserves
  </Marked>
);

/** Where it comes from: the chains of its sources, an account, or the reserves. */
const Origin = ({ row: { source, sent } }: { readonly row: ActivityRow }): ReactNode => {
  if (source !== null) return <Account {...source} />;
  const chains = sent.flatMap(({ token }) => token.chainId ?? []);
  return chains.length === 0 ? RESERVES : <Chains ids={chains} />;
};

const ARROW = (
  <>
    {" "}
    <span aria-label="to" className="shrink-0">
      →
    </span>{" "}
  </>
);

/** Two lines where the table is narrow; else one, in which names give way. */
const LOOKS =
  "line-clamp-2 text-fg-2 @min-[60rem]:flex @min-[60rem]:items-center @min-[60rem]:gap-x-1 @min-[60rem]:whitespace-nowrap";

/** In one line there is no room for the names of two chains and of the receiver, so the second chain is its mark alone. */
const WIDE_HIDDEN = "@min-[60rem]:sr-only";

/** Of a deposit: who sent it, and the chain. Else where it comes from and who receives it; a chain that it never leaves stands once. An account is on no chain. */
export const EntryWay = ({ row }: { readonly row: ActivityRow }): ReactNode => {
  const { kind, source, counterparty, sent, received, minimum } = row;
  const toChain = (received ?? minimum)?.token.chainId ?? null;
  if (kind === "deposit")
    return (
      <span className={LOOKS}>
        {counterparty === null ? <Counterparty address={null} /> : <Receiver party={counterparty} />}
        {ARROW}
        {toChain === null ? null : (
          <span className="min-w-0 truncate">
            <ChainName chainId={toChain} />
          </span>
        )}
      </span>
    );
  return (
    <span className={LOOKS}>
      <Origin row={row} />
      {ARROW}
      {counterparty === null ? RESERVES : <Receiver party={counterparty} />}
      {toChain === null || (source === null && sent.every(({ token }) => token.chainId === toChain)) ? null : (
        <span className="shrink-0">
          {" "}
          <span className={WIDE_HIDDEN}>on</span> <ChainName chainId={toChain} nameClassName={WIDE_HIDDEN} />
        </span>
      )}
    </span>
  );
};
