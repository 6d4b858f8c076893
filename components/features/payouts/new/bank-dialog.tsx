"use client";

import { type ReactNode, useId, useMemo, useState } from "react";
import { type Contact, useContacts } from "@/components/features/contacts/use-contacts";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { VirtualTable } from "@/components/ui/virtual-table";
import { isApprovedOn, type KnownAddress } from "@/lib/core/look-alike";
import { isSameText } from "@/lib/core/same-text";
import type { BankFile } from "@/components/features/file-import/pain";
import {
  bankRows,
  currenciesOf,
  type CurrencyGroup,
  fitsCurrency,
  type Payee,
  payeesOf,
} from "./bank-rows";
import { counted } from "./amount-rules";
import { NotRead } from "@/components/features/file-import/mapping-parts";
import { ImportDialog, type ImportDialogProps, MappingPreview } from "./import-dialog";
import { RecipientLine } from "../recipient-item";
import { requestProblem } from "./request-size";
import type { Target } from "./use-target";

const NO_TOKEN = "none";

interface BankDialogProps extends ImportDialogProps {
  readonly bank: BankFile;
  readonly target: Target;
}

type Choices = ReadonlyMap<string, string>;

const withChoice = (choices: Choices, key: string, value: string): Choices =>
  new Map([...choices, [key, value]]);

export const BankDialog = (props: BankDialogProps): ReactNode => {
  const { name, bank, target, rules } = props;
  const { payments, notices, unread } = bank;
  const { wallets } = target;
  const [tokens, setTokens] = useState<Choices>(new Map());
  const [recipients, setRecipients] = useState<Choices>(new Map());
  const payees = useMemo(() => payeesOf(payments), [payments]);
  const currencies = useMemo(() => currenciesOf(payments), [payments]);
  const rows = useMemo(() => {
    const paysTokens = wallets !== null && target.kind === "wallets";
    return bankRows(payments, { tokens: paysTokens ? tokens : null, recipients });
  }, [payments, tokens, recipients, wallets, target.kind]);
  const problem = useMemo(() => requestProblem(rows), [rows]);
  const isOpen =
    target.kind === "wallets" && currencies.some(({ currency }) => !tokens.has(currency));
  return (
    <ImportDialog
      {...props}
      title="Match the payees"
      description={`${name}, ${counted(payments.length, "payment")} of a bank's file (pain.001)`}
      notices={notices}
      problem={problem}
      rows={rows}
      ready={!isOpen}
    >
      {target.kind !== "wallets" || wallets === null ? null : (
        <Currencies
          groups={currencies}
          tokens={wallets.tokens}
          chainName={wallets.chainName}
          chosen={tokens}
          onChoose={(currency, token) => setTokens(withChoice(tokens, currency, token))}
        />
      )}
      {payees.length === 0 ? null : (
        <BankPayees
          payees={payees}
          target={target}
          chosen={recipients}
          onChoose={(key, recipient) => setRecipients(withChoice(recipients, key, recipient))}
        />
      )}
      <MappingPreview rows={rows} fields={rules.fields} />
      <NotRead
        label="Elements that are not read"
        parts={unread.map((element) => ({
          name: element.name,
          samples: element.samples.join(" · "),
        }))}
      />
    </ImportDialog>
  );
};

interface CurrenciesProps {
  readonly groups: readonly CurrencyGroup[];
  readonly tokens: readonly TokenInfo[];
  readonly chainName: string;
  readonly chosen: Choices;
  readonly onChoose: (currency: string, token: string) => void;
}

/** The symbol, or the address when several tokens have the symbol. */
const nameOf = ({ address, symbol }: TokenInfo, tokens: readonly TokenInfo[]): string =>
  tokens.filter((token) => isSameText(token.symbol, symbol)).length === 1 ? symbol : address;

/**
 * Asks for the token of each currency. Only tokens worth one unit of the currency are offered,
 * because amounts are not converted.
 */
const Currencies = ({
  groups,
  tokens,
  chainName,
  chosen,
  onChoose,
}: CurrenciesProps): ReactNode => (
  <section aria-label="Currencies" className="flex flex-col gap-2">
    <p className="font-medium">In which token is each currency paid?</p>
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {groups.map(({ currency, payments }) => {
        const fitting = tokens.filter((token) => fitsCurrency(token, currency));
        return (
          <Field
            key={currency}
            label={`${currency === "" ? "No currency" : currency}, ${counted(payments, "payment")}`}
            hint={
              fitting.length === 0
                ? `${chainName} has no token for it; amounts are not converted.`
                : undefined
            }
          >
            <Select
              value={chosen.get(currency) === "" ? NO_TOKEN : (chosen.get(currency) ?? "")}
              placeholder="Choose"
              onValueChange={(value) => onChoose(currency, value === NO_TOKEN ? "" : value)}
              options={[
                ...fitting.map((token) => ({
                  value: nameOf(token, tokens),
                  label: `${token.symbol}, one for one`,
                })),
                { value: NO_TOKEN, label: "Not paid: keep as errors" },
              ]}
            />
          </Field>
        );
      })}
    </div>
  </section>
);

const ROW_HEIGHT = 53;
const TEMPLATE = "md:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)_4rem_minmax(0,2fr)]";

interface BankPayeesProps {
  readonly payees: readonly Payee[];
  readonly target: Target;
  /** The chosen address or account id of each payee, by the payee's key. */
  readonly chosen: ReadonlyMap<string, string>;
  readonly onChoose: (key: string, recipient: string) => void;
}

/**
 * The approved contact with this name, when there is only one. It is offered but never chosen
 * automatically, because people can share a name.
 */
const namesakeOf = (name: string, contacts: readonly Contact[]): Contact | undefined => {
  const same = contacts.filter(
    (contact) => contact.name.trim().toLowerCase() === name.trim().toLowerCase(),
  );
  return same.length === 1 ? same[0] : undefined;
};

/**
 * Asks for the address or global account of each payee, because a bank file has only bank accounts.
 */
const BankPayees = ({ payees, target, chosen, onChoose }: BankPayeesProps): ReactNode => {
  const listId = useId();
  const contacts = useContacts().data?.data ?? [];
  const chainId = target.wallets?.chainId ?? null;
  const { known } = useKnownAddresses(chainId);
  const inWallets = target.kind === "wallets";
  const approved = inWallets
    ? contacts.filter((contact) => isApprovedOn(contact, chainId))
    : [];
  const unmatched = payees.filter(({ key }) => (chosen.get(key) ?? "") === "").length;
  return (
    <section aria-label="Payees" className="rounded-card border">
      <p className="border-b px-4 py-2 text-sm font-medium text-fg-2">
        {inWallets ? "The address of each payee" : "The account of each payee"}
        {unmatched === 0
          ? ""
          : `. ${counted(unmatched, "payee has", "payees have")} none yet and will be an error.`}
      </p>
      <datalist id={listId}>
        {approved.map((contact) => (
          <option key={contact.id} value={contact.address} label={contact.name} />
        ))}
      </datalist>
      <VirtualTable
        caption="Payees"
        template={TEMPLATE}
        columns={[
          { id: "name", header: "Payee" },
          { id: "account", header: "Account at the bank" },
          { id: "payments", header: "Rows", align: "right" },
          { id: "recipient", header: inWallets ? "Address" : "Account" },
        ]}
        count={payees.length}
        keyOf={(index) => payees[index]?.key ?? index}
        rowHeight={ROW_HEIGHT}
      >
        {(index) => {
          const payee = payees[index];
          if (payee === undefined) return null;
          const recipient = chosen.get(payee.key) ?? "";
          return (
            <PayeeCells
              payee={payee}
              recipient={recipient}
              placeholder={inWallets ? "0x…" : "ga_…"}
              listId={listId}
              known={known}
              namesake={recipient === "" ? namesakeOf(payee.name, approved) : undefined}
              onChoose={(next) => onChoose(payee.key, next)}
            />
          );
        }}
      </VirtualTable>
    </section>
  );
};

interface PayeeCellsProps {
  readonly payee: Payee;
  readonly recipient: string;
  readonly placeholder: string;
  readonly listId: string;
  readonly known: readonly KnownAddress[];
  readonly namesake: Contact | undefined;
  readonly onChoose: (recipient: string) => void;
}

const PayeeCells = (props: PayeeCellsProps): ReactNode => {
  const { payee, recipient, placeholder, listId, known, namesake, onChoose } = props;
  const { name, account, payments } = payee;
  return (
    <>
      <span role="cell" className="min-w-0 truncate font-medium" title={name}>
        {name === "" ? "No name" : name}
      </span>
      <span role="cell" className="min-w-0 truncate font-mono text-sm" title={account}>
        {account === "" ? "–" : account}
      </span>
      <span role="cell" className="num md:text-right">
        <span className="md:sr-only">{counted(payments, "payment")}</span>
        <span aria-hidden className="max-md:hidden">
          {payments}
        </span>
      </span>
      <span role="cell" className="flex min-w-0 flex-col items-start gap-1 py-1.5">
        <Input
          aria-label={`Recipient for ${name} ${account}`}
          mono
          // The arrow of the suggestion list would hide the end of the address.
          className="h-8 px-2 text-xs tracking-tight [&::-webkit-calendar-picker-indicator]:hidden!"
          placeholder={placeholder}
          list={listId}
          value={recipient}
          onChange={(event) => onChoose(event.target.value.trim())}
        />
        <RecipientLine address={recipient} known={known} />
        {namesake === undefined ? null : (
          <Button size="sm" onClick={() => onChoose(namesake.address)}>
            Use the contact {namesake.name}
          </Button>
        )}
      </span>
    </>
  );
};
