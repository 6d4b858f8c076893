"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Landmark, Plus, ShieldCheck } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsBoolean, parseAsString, useQueryState, useQueryStates } from "nuqs";
import { type ReactNode, useCallback, useEffect } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { SearchField } from "@/components/features/operations/search-field";
import { PagedCard } from "@/components/features/session/paged-card";
import { useReserves } from "@/components/features/reserves/use-reserves";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { usePages } from "@/components/features/session/use-lists";
import { compareAmounts } from "@/components/features/swap/decimal";
import type { AssetInfo } from "@/components/features/swap/tokens";
import { AddressMark } from "@/components/ui/address";
import { HeldAmount, HideAmountsButton } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Combobox } from "@/components/ui/combobox";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { ControlField, TextField, DialogForm } from "@/components/ui/form";
import { Kbd } from "@/components/ui/kbd";
import { TokenName, tokenOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { EmptyState } from "@/components/ui/states";
import { type Column, RowLink, Table, useListKeys } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { listGlobalAccounts } from "@/lib/api-client/calls.gen";
import type { BodyOf } from "@/lib/contracts/contract";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import {
  type Account,
  accountName,
  accountPages,
  accountQuery,
  useCurrencies,
} from "./account";
import { AccountState } from "./account-state";

const ALL = "all";
const FILTERS = { q: parseAsString, currency: parseAsString };

export const Accounts = (): ReactNode => {
  const [filters, setFilters] = useQueryStates(FILTERS, { history: "replace" });
  const [opening, setOpening] = useQueryState("new", parseAsBoolean.withDefault(false));
  const list = usePages(accountPages(filters));
  const search = useCallback(
    (q: string) => void setFilters({ q: q === "" ? null : q }),
    [setFilters],
  );
  const filtered = filters.q !== null || filters.currency !== null;
  const openButton = (
    <Button variant="primary" onClick={() => void setOpening(true)}>
      <Plus aria-hidden /> Open account
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Global accounts"
        description={
          <>
            Money that you hold for others, covered by the treasury.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens.
            </span>
          </>
        }
        actions={
          <>
            <HideAmountsButton />
            {openButton}
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-end gap-2">
          <SearchField value={filters.q ?? ""} placeholder="Name or id" onSettle={search} />
          <CurrencyFilter
            value={filters.currency}
            onChange={(currency) => void setFilters({ currency })}
          />
          <Link href="/reserves" className={buttonLooks()}>
            <ShieldCheck aria-hidden /> Reserves
          </Link>
        </div>
        <PagedCard
          list={list}
          what="accounts"
          money="The money in the accounts is untouched."
          empty={
            filtered ? (
              <EmptyState
                icon={Landmark}
                title="No account fits"
                action={
                  <Button onClick={() => void setFilters({ q: null, currency: null })}>
                    Show all accounts
                  </Button>
                }
              />
            ) : (
              <NoAccounts action={openButton} />
            )
          }
        >
          {(accounts) => <AccountTable accounts={accounts} />}
        </PagedCard>
        <ApiSnippet call={listGlobalAccounts} query={filters} />
      </div>
      {opening ? <OpenAccountDialog onClose={() => void setOpening(null)} /> : null}
    </>
  );
};

interface CurrencyFilterProps {
  readonly value: string | null;
  readonly onChange: (currency: string | null) => void;
}

const CurrencyFilter = ({ value, onChange }: CurrencyFilterProps): ReactNode => {
  const symbols = useCurrencies()?.map(({ symbol }) => symbol) ?? [];
  const known = value === null || symbols.includes(value) ? symbols : [...symbols, value];
  return (
    <Field label="Currency" labelHidden className="w-44">
      <Select
        value={value ?? ALL}
        onValueChange={(next) => onChange(next === ALL ? null : next)}
        options={[
          { value: ALL, label: "All currencies" },
          ...known.map((symbol) => ({ value: symbol, label: symbol })),
        ]}
      />
    </Field>
  );
};

const AccountTable = ({ accounts }: { readonly accounts: readonly Account[] }): ReactNode => {
  const router = useRouter();
  const active = useListKeys({
    keys: accounts.map(({ id }) => id),
    onOpen: (id) => router.push(`/accounts/${id}`),
  });
  return (
    <Table
      caption="Global accounts"
      columns={ACCOUNT_COLUMNS}
      rows={accounts}
      rowKey={({ id }) => id}
      activeKey={active}
    />
  );
};

const NoAccounts = ({ action }: { readonly action: ReactNode }): ReactNode => (
  <EmptyState icon={Landmark} title="No accounts yet" action={action}>
    <p>
      A global account is a balance in one currency that you keep for a customer, a supplier or
      a purpose. It is funded from the treasury, and pays other accounts at once and without
      network fees.
    </p>
    <p className="pt-2">
      Together the accounts of a currency never hold more than the treasury holds on chain;
      anybody can check that under{" "}
      <Link href="/reserves" className="link">
        Reserves
      </Link>
      .
    </p>
  </EmptyState>
);

interface BalanceProps {
  readonly account: Account;
  readonly part: keyof Account["balance"];
}

const Balance = ({ account, part }: BalanceProps): ReactNode => (
  <HeldAmount
    value={account.balance[part]}
    symbol={account.currency}
    className={part === "available" ? "font-medium" : "text-fg-2"}
  />
);

const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  {
    id: "name",
    header: "Name",
    phone: "title",
    cell: (account) => (
      <span className="flex min-w-0 items-center gap-2 @max-[40rem]:flex-wrap">
        <AddressMark value={account.id} />
        <RowLink href={`/accounts/${account.id}`}>{accountName(account)}</RowLink>
        <AccountState account={account} />
      </span>
    ),
  },
  {
    id: "currency",
    header: "Currency",
    bare: true,
    cell: (account) => <TokenName symbol={account.currency} />,
  },
  {
    id: "available",
    header: "Available",
    align: "right",
    phone: "aside",
    cell: (account) => <Balance account={account} part="available" />,
  },
  {
    id: "pending",
    header: "Pending",
    align: "right",
    phone: "hidden",
    priority: "medium",
    cell: (account) => <Balance account={account} part="pending" />,
  },
  {
    id: "posted",
    header: "Posted",
    align: "right",
    cell: (account) => <Balance account={account} part="posted" />,
  },
  {
    id: "opened",
    header: "Opened",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: (account) => <Time value={account.createdAt} />,
  },
];

const NAME_MAX = 80;

interface AccountValues {
  readonly name: string;
  readonly currency: string;
}

/**
 * The body of the request. An empty name is left out. The currency is the id of an asset, because
 * several assets can have one symbol.
 */
const bodyOf = ({ name, currency }: AccountValues): BodyOf<typeof createGlobalAccount> => ({
  currency,
  name: name.trim() === "" ? undefined : name.trim(),
});

const accountForm = z
  .object({ name: z.string(), currency: z.string() })
  .transform(bodyOf)
  .pipe(createGlobalAccount.body);

const OpenAccountDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => {
  const router = useRouter();
  const cache = useCache();
  const currencies = useCurrencies();
  const reserves = useReserves();
  const isHeld = (asset: AssetInfo): boolean =>
    reserves.data?.data.some(
      ({ assetId, available }) =>
        assetId === asset.assetId && compareAmounts(available, "0") === 1,
    ) ?? false;
  const preselected = currencies?.find(isHeld) ?? currencies?.[0];
  const proposed = reserves.isPending ? undefined : preselected?.assetId;
  const form = useForm({
    resolver: zodResolver(accountForm),
    defaultValues: { name: "", currency: "" },
  });
  useEffect(() => {
    // The first proposal stays. The reserves change while the dialog is open, but the currency of
    // an account cannot be changed later.
    if (proposed !== undefined && form.getValues("currency") === "")
      form.setValue("currency", proposed);
  }, [proposed, form]);
  const { mutation, send } = useSentOnce(createGlobalAccount);
  const submit = async (body: BodyOf<typeof createGlobalAccount>): Promise<void> => {
    const account = await send({ body }).catch(() => null);
    if (account === null) return;
    toast.success("The account is open.");
    cache.set(accountQuery(account.id), account);
    void cache.refresh(listGlobalAccounts);
    router.push(`/accounts/${account.id}`);
  };
  const values = form.watch();
  return (
    <Dialog onClose={onClose} title="Open a global account">
      <DialogForm
        form={form}
        error={mutation.error}
        onSubmit={submit}
        money="No account was opened."
        act="Open account"
        busy={mutation.isPending}
        disabled={values.currency === ""}
        onCancel={onClose}
        // The example call needs a currency, because the service returns an error without one.
        snippet={
          values.currency === "" ? null : (
            <ApiSnippet call={createGlobalAccount} body={bodyOf(values)} />
          )
        }
      >
        <TextField
          control={form.control}
          name="name"
          label="Name"
          hint="Whose it is or what it is for. Optional; seen by your team alone."
          input={{ maxLength: NAME_MAX, autoFocus: true }}
        />
        <ControlField
          control={form.control}
          name="currency"
          label="Currency"
          hint="It stays; another currency is another account."
        >
          {(bound) => (
            <Combobox
              {...bound}
              disabled={currencies === undefined}
              options={(currencies ?? []).map(({ assetId, symbol, name: full }) => ({
                ...tokenOption(symbol, assetId),
                description: full,
              }))}
              searchPlaceholder="Symbol or name"
            />
          )}
        </ControlField>
      </DialogForm>
    </Dialog>
  );
};
