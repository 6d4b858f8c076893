"use client";

import { CircleCheck, CirclePause, Hourglass, LoaderCircle, Undo2 } from "lucide-react";
import Link from "next/link";
import { parseAsInteger, parseAsString, useQueryStates } from "nuqs";
import { type ReactNode, useEffect, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Counterparty } from "@/components/features/names/names";
import { type DepositRecord, depositSentence } from "@/components/features/deposits/words";
import { QrCode } from "@/components/features/factors/qr-code";
import { FundMenu } from "@/components/features/faucet/fund-menu";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import {
  compareAmounts,
  subtractAmounts,
  sumAmounts,
} from "@/components/features/swap/decimal";
import { type TokenInfo, tokensQuery } from "@/components/features/swap/tokens";
import {
  useWallets,
  walletName,
  walletOption,
  type WalletRecord,
} from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { AddressGroups, AddressMark } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Field, Input } from "@/components/ui/field";
import { useAmountsHidden } from "@/components/ui/hidden-amounts";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { joinQueries, QueryPanel } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import {
  getUnifiedBalances,
  listDeposits,
  listOperations,
  streamDeposits,
} from "@/lib/api-client/calls.gen";
import { readAmount } from "@/lib/core/read-amount";

/** The address of a wallet, and its deposits, live. */
export const Receive = (): ReactNode => {
  const choice = useReceive();
  const { wallet, chainId, token, amount, wallets } = choice;
  const chainName =
    choice.chains.find(({ id }) => id === chainId)?.name ?? `Chain ${String(chainId)}`;
  return (
    <>
      <PageHeader
        title="Receive"
        description="Send to this address from outside. The deposit appears here by itself."
      />
      <QueryPanel
        query={joinQueries([wallets, choice.tokens], wallet && token && { wallet, token })}
        what="wallets"
        money="Nothing was sent."
      >
        {({ wallet, token }) => (
          <div className="flex flex-col gap-4">
            <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-12 lg:grid-rows-[auto_1fr]">
              <Choices choice={choice} wallet={wallet} token={token} />
              <AddressCard wallet={wallet} token={token} chainName={chainName} />
              <WaitingCard
                key={`${wallet.id} ${String(chainId)}`}
                walletId={wallet.id}
                chainId={chainId}
                token={token}
                expected={readAmount(amount.trim())}
                after={choice.after}
                onBegin={(after) => void choice.setChoice({ after })}
                onClose={() => void choice.setChoice({ amount: null, after: null })}
              />
            </div>
            <ApiSnippet call={listDeposits} />
          </div>
        )}
      </QueryPanel>
    </>
  );
};

interface ChoicesProps {
  readonly choice: ReceiveChoice;
  readonly wallet: WalletRecord;
  readonly token: TokenInfo;
}

const Choices = ({ choice, wallet, token }: ChoicesProps): ReactNode => {
  const { watched, chains, chainId, here, amount, setChoice } = choice;
  return (
    <Card title="Expected deposit" className="lg:col-span-7">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Wallet">
          <Select
            value={wallet.id}
            onValueChange={(id) => void setChoice({ wallet: id, after: null })}
            options={watched.map((each) => ({ ...walletOption(each), value: each.id }))}
          />
        </Field>
        <Field label="Chain">
          <Select
            value={String(chainId)}
            onValueChange={(id) => void setChoice({ chain: Number(id), after: null })}
            options={chains.map(chainOption)}
          />
        </Field>
        <Field label="Token">
          <Select
            value={token.symbol}
            onValueChange={(symbol) => void setChoice({ token: symbol, after: null })}
            options={here.map(({ symbol }) => tokenOption(symbol))}
          />
        </Field>
        <Field
          label="Expected amount"
          hint={
            <>
              Optional. It is compared with what arrives.{" "}
              <ReadAs value={amount} read={readAmount(amount)} symbol={token.symbol} />
            </>
          }
        >
          <Input
            numeric
            value={amount}
            placeholder="100.00"
            onChange={({ target: { value: typed } }) =>
              void setChoice({ amount: typed === "" ? null : typed, after: null })
            }
          />
        </Field>
      </div>
    </Card>
  );
};

interface AddressCardProps {
  readonly wallet: WalletRecord;
  readonly token: TokenInfo;
  readonly chainName: string;
}

const AddressCard = ({ wallet, token, chainName }: AddressCardProps): ReactNode => {
  const { devnet } = usePublicConfig();
  const name = walletName(wallet);
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          <AddressMark value={wallet.address} /> {name}
        </span>
      }
      actions={devnet ? <FundMenu address={wallet.address} name={name} /> : undefined}
      className="lg:col-span-5 lg:row-span-2"
    >
      <div className="flex flex-col items-center gap-3">
        <QrCode text={wallet.address} label={`QR code of the address of ${name}`} />
        <p className="flex items-center gap-1">
          <AddressGroups value={wallet.address} />
          <CopyButton value={wallet.address} label="Copy address" />
        </p>
        <Alert className="w-full">
          Send {token.symbol} on {chainName}. The address is the same on every chain of the
          project.
        </Alert>
      </div>
    </Card>
  );
};

/** Maximum number of deposits in the list. */
const SHOWN = 5;
/**
 * Maximum number of deposits that one request reads. They can count towards the expected amount.
 */
const READ = 100;
/** Used as the id of the newest deposit when there are no deposits. It sorts before every id. */
const FROM_START = "0";

const ICONS = {
  pending: LoaderCircle,
  credited: CircleCheck,
  quarantined: CirclePause,
  released: CircleCheck,
  dropped: Undo2,
} as const;

interface WaitingCardProps {
  readonly walletId: string;
  readonly chainId: number;
  readonly token: TokenInfo;
  /** The expected amount as a plain decimal string; null when any amount is expected. */
  readonly expected: string | null;
  /**
   * Id of the newest deposit when the person entered the expected amount. Only deposits with a
   * larger id count towards the amount. Null until the deposits are read.
   */
  readonly after: string | null;
  readonly onBegin: (after: string) => void;
  readonly onClose: () => void;
}

/** The latest deposits of a wallet on a chain, and the comparison with the expected amount. */
const WaitingCard = ({
  walletId,
  chainId,
  token,
  expected,
  after,
  onBegin,
  onClose,
}: WaitingCardProps): ReactNode => {
  const { newestFirst, arrived, isRead, isLive } = useDeposits(walletId, chainId);
  const hidden = useAmountsHidden();
  const begins = expected !== null && after === null && isRead;
  const newestId = newestFirst[0]?.id ?? FROM_START;
  useEffect(() => {
    if (begins) onBegin(newestId);
  }, [begins, newestId, onBegin]);
  const isOfToken = (deposit: DepositRecord): boolean =>
    deposit.received.token.address === token.address;
  const counted =
    after === null
      ? []
      : newestFirst.filter(
          (deposit) => deposit.id > after && isOfToken(deposit) && deposit.state !== "dropped",
        );
  const hasBegunToArrive = expected !== null && counted.length > 0;
  const isHere = hasBegunToArrive
    ? compareAmounts(sumOf(counted.filter(isMovable)), expected) >= 0
    : expected === null && arrived.some(isOfToken);
  const [newest] = newestFirst;
  return (
    <Card
      title={isHere ? "Deposits" : "Waiting for a deposit"}
      actions={
        <span className="text-sm text-fg-3">{isLive ? "Live" : "Connecting again"}</span>
      }
      flush
      className="lg:col-span-7"
    >
      <p role="status" className="sr-only">
        {(isHere || hasBegunToArrive) && newest !== undefined
          ? `${hidden ? "" : `${newest.received.amount} `}${newest.received.token.symbol}. ${depositSentence(newest)}`
          : ""}
      </p>
      {hasBegunToArrive ? (
        <Expectation
          expected={expected}
          deposits={counted}
          symbol={token.symbol}
          onClose={onClose}
        />
      ) : null}
      {isHere || hasBegunToArrive ? null : (
        <p className="flex items-center gap-2 border-b px-4 py-3 text-fg-2">
          <Hourglass className="size-4 shrink-0" aria-hidden />
          <span>
            Nothing new yet.{" "}
            {expected === null ? (
              `Any ${token.symbol}`
            ) : (
              <Amount value={expected} unit={token.symbol} plain />
            )}{" "}
            sent to the address appears here within seconds of its block.
          </span>
        </p>
      )}
      <ul className="divide-y" aria-label="Latest deposits">
        {newestFirst.slice(0, SHOWN).map((deposit) => (
          <DepositLine key={deposit.id} deposit={deposit} token={token} expected={expected} />
        ))}
      </ul>
    </Card>
  );
};

/** The deposits of a wallet on a chain, from the list of operations and from the live stream. */
const useDeposits = (walletId: string, chainId: number) => {
  const query = { kind: "deposit", walletId, chainId, limit: READ } as const;
  const { data, isFetching } = useQuery(apiQuery(listOperations, { query }));
  const stream = useDepositStream();
  const arrived = [...stream.deposits.values()].filter(
    (each) => each.walletId === walletId && each.chainId === chainId,
  );
  const byId = new Map(
    (data?.data ?? []).flatMap(({ deposit }) =>
      deposit === null ? [] : [[deposit.id, deposit]],
    ),
  );
  for (const deposit of arrived) byId.set(deposit.id, deposit);
  return {
    newestFirst: [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)),
    /** Deposits that came while the page was open. */
    arrived,
    isRead: data !== undefined && !isFetching,
    isLive: stream.live,
  };
};

const isMovable = ({ state }: DepositRecord): boolean =>
  state === "credited" || state === "released";

const sumOf = (deposits: readonly DepositRecord[]): string =>
  sumAmounts(deposits.map(({ received }) => received.amount));

interface ExpectationProps {
  readonly expected: string;
  /** The deposits of the token since the amount was typed. */
  readonly deposits: readonly DepositRecord[];
  readonly symbol: string;
  readonly onClose: () => void;
}

/**
 * Compares the expected amount with the sum of the deposits, until the person closes the card. A
 * deposit in quarantine counts once it is released.
 */
const Expectation = ({ expected, deposits, symbol, onClose }: ExpectationProps): ReactNode => {
  const isHeldBack = deposits.some(({ state }) => state === "quarantined");
  const isPending = deposits.some(({ state }) => state === "pending");
  const received = sumOf(deposits.filter(({ state }) => state !== "quarantined"));
  const difference = compareAmounts(expected, received);
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2">
      <span className="text-fg-2">
        <Amount value={received} symbol={symbol} plain /> of{" "}
        <Amount value={expected} unit={symbol} plain /> arrived
      </span>
      {isHeldBack ? <Badge tone="warning">In quarantine</Badge> : null}
      {isPending ? <Badge>Waiting for confirmations</Badge> : null}
      {difference === 0 && !isPending ? <Badge tone="success">Complete</Badge> : null}
      {difference === 1 ? (
        <Badge tone="warning">
          <Amount value={subtractAmounts(expected, received)} symbol={symbol} plain /> short
        </Badge>
      ) : null}
      {difference === -1 ? (
        <Badge tone="warning">
          <Amount value={subtractAmounts(received, expected)} symbol={symbol} plain /> too much
        </Badge>
      ) : null}
      <Button size="sm" variant="ghost" className="ml-auto" onClick={onClose}>
        Close
      </Button>
    </p>
  );
};

interface DepositLineProps {
  readonly deposit: DepositRecord;
  readonly token: TokenInfo;
  /** The expected amount as a plain decimal string; null when any amount is expected. */
  readonly expected: string | null;
}

const DepositLine = ({ deposit, token, expected }: DepositLineProps): ReactNode => {
  const Icon = ICONS[deposit.state];
  const { amount, token: received } = deposit.received;
  const isExpected =
    expected !== null &&
    received.address === token.address &&
    compareAmounts(amount, expected) === 0;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
      <Icon className="size-4 shrink-0 text-fg-2" aria-hidden />
      <span className="min-w-0 flex-1 basis-64">
        <Link href={`/activity/${deposit.id}`} className="link">
          {depositSentence(deposit)}
        </Link>
        <span className="block text-sm text-fg-3">
          <Counterparty address={deposit.sender} /> <Time value={deposit.detectedAt} />
        </span>
      </span>
      {isExpected ? <Badge tone="success">As expected</Badge> : null}
      <Amount value={amount} unit={received.symbol} />
    </li>
  );
};

const SHOWN_MAX = 50;
const AGAIN_MS = 5_000;

interface DepositStream {
  /** The newest state of each deposit, by id. */
  readonly deposits: ReadonlyMap<string, DepositRecord>;
  /** False while the connection is lost. */
  readonly live: boolean;
}

/** The project's deposits, live. Reconnects by itself. */
const useDepositStream = (): DepositStream => {
  const api = useApi();
  const cache = useCache();
  const [state, setState] = useState<DepositStream>({ deposits: new Map(), live: true });
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      for await (const { data } of api.events(streamDeposits, { signal: controller.signal })) {
        setState(({ deposits }) => {
          const others = [...deposits].filter(([id]) => id !== data.id).slice(1 - SHOWN_MAX);
          return { deposits: new Map([...others, [data.id, data]]), live: true };
        });
        if (data.state === "pending") continue;
        void cache.refresh(listOperations, getUnifiedBalances);
      }
    };
    const keepReading = (): void => {
      void read()
        .catch(() => undefined)
        .finally(() => {
          if (controller.signal.aborted) return;
          setState(({ deposits }) => ({ deposits, live: false }));
          timer = setTimeout(() => {
            setState(({ deposits }) => ({ deposits, live: true }));
            keepReading();
          }, AGAIN_MS);
        });
    };
    keepReading();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [api, cache]);
  return state;
};

const FIRST_CHOICE = "USDC";

/** The wallet, chain, token and amount to receive; the choices live in the address of the page. */
const useReceive = () => {
  const { chains } = usePublicConfig();
  const wallets = useWallets();
  const tokens = useQuery(tokensQuery);
  const [choice, setChoice] = useQueryStates(
    {
      wallet: parseAsString,
      chain: parseAsInteger,
      token: parseAsString,
      amount: parseAsString.withDefault(""),
      after: parseAsString,
    },
    { history: "replace" },
  );
  // The service does not watch the deposits of linked wallets.
  const watched = (wallets.data?.data ?? []).filter(({ kind }) => kind !== "linked");
  const wallet =
    watched.find(({ id }) => id === choice.wallet) ??
    watched.find(({ kind }) => kind === "treasury") ??
    watched[0];
  const chainId = chains.find(({ id }) => id === choice.chain)?.id ?? chains[0]?.id ?? 0;
  const here = (tokens.data?.data ?? []).filter((token) => token.chainId === chainId);
  const token =
    here.find(({ symbol }) => symbol === choice.token) ??
    here.find(({ symbol }) => symbol === FIRST_CHOICE) ??
    here[0];
  return {
    wallets,
    tokens,
    watched,
    wallet,
    chains,
    chainId,
    here,
    token,
    amount: choice.amount,
    after: choice.after,
    setChoice,
  };
};

type ReceiveChoice = ReturnType<typeof useReceive>;
