"use client";

import { Landmark, Plus, ShieldCheck } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { parseAsBoolean, parseAsString, useQueryState, useQueryStates } from "nuqs";
import { useCallback, useMemo, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { SearchField } from "@/components/features/operations/search-field";
import { PagedCard } from "@/components/features/session/paged-card";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { EmptyState } from "@/components/ui/empty-state";
import { Field } from "@/components/ui/field";
import { HideAmountsButton } from "@/components/ui/held-amount";
import { Kbd } from "@/components/ui/kbd";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { Table } from "@/components/ui/table";
import { useListKeys } from "@/components/ui/use-list-keys";
import { pathOf } from "@/lib/api-client/client";
import { listGlobalAccounts } from "@/lib/api-client/calls.gen";
import type { Account } from "./account";
import { ACCOUNT_COLUMNS } from "./account-columns";
import { OpenAccountDialog } from "./open-account-dialog";
import { useAccountList } from "./use-accounts";
import { useCurrencies } from "./use-currencies";

const ALL = "all";
const FILTERS = { q: parseAsString, currency: parseAsString };

export const Accounts = (): ReactNode => {
  const [filters, setFilters] = useQueryStates(FILTERS, { history: "replace" });
  const [opening, setOpening] = useQueryState("new", parseAsBoolean.withDefault(false));
  const list = useAccountList(filters);
  const search = useCallback((q: string) => void setFilters({ q: q === "" ? null : q }), [setFilters]);
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
          <CurrencyFilter value={filters.currency} onChange={(currency) => void setFilters({ currency })} />
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
                action={<Button onClick={() => void setFilters({ q: null, currency: null })}>Show all accounts</Button>}
              />
            ) : (
              <NoAccounts action={openButton} />
            )
          }
        >
          {(accounts) => <AccountTable accounts={accounts} />}
        </PagedCard>
        <ApiSnippet
          method="GET"
          path={pathOf(listGlobalAccounts, { query: { q: filters.q, currency: filters.currency } })}
        />
      </div>
      <OpenAccountDialog open={opening} onOpenChange={(open) => void setOpening(open ? true : null)} />
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
  const ids = accounts.map(({ id }) => id).join(" ");
  const keys = useMemo(() => ids.split(" "), [ids]);
  const onOpen = useCallback((id: string) => router.push(`/accounts/${id}`), [router]);
  const active = useListKeys({ keys, onOpen });
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
      A global account is a balance in one currency that you keep for a customer, a supplier or a purpose. It is funded
      from the treasury, and pays other accounts at once and without network fees.
    </p>
    <p className="pt-2">
      Together the accounts of a currency never hold more than the treasury holds on chain; anybody can check that under{" "}
      <Link href="/reserves" className="link">
        Reserves
      </Link>
      .
    </p>
  </EmptyState>
);
