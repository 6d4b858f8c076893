"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { SettingsPage } from "@/components/features/profile/settings-page";
import { useMay } from "@/components/features/projects/use-project";
import { AddressMark, shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field } from "@/components/ui/field";
import { QueryPanel } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { walletName } from "@/components/features/wallets/use-wallets";
import { RuleList } from "./rule-list";
import { sentencesOf } from "./rule-words";
import { LimitCard, VotesCard } from "./settings-cards";
import { TEMPLATES } from "./templates";
import {
  isOf,
  pathOfSubject,
  type Policy,
  type PolicySetup,
  PROJECT,
  usePolicySetup,
} from "./use-policies";

export const PoliciesPage = (): ReactNode => {
  const query = usePolicySetup();
  const mayChange = useMay("policies:manage");
  return (
    <SettingsPage
      title="Policies"
      description="Limits on money that leaves the project. Where several apply, the strictest wins."
    >
      <QueryPanel
        query={query}
        what="the policies"
        rows={6}
        money="The policies go on to apply."
      >
        {(setup) => (
          <>
            {mayChange ? null : <ReadOnlyNote />}
            <ProjectCard setup={setup} mayChange={mayChange} />
            {mayChange ? <TemplatesCard setup={setup} /> : null}
            <SubjectsCard setup={setup} mayChange={mayChange} scope="wallet" />
            <SubjectsCard setup={setup} mayChange={mayChange} scope="key" />
          </>
        )}
      </QueryPanel>
      <LimitCard />
      <VotesCard />
    </SettingsPage>
  );
};

export const ReadOnlyNote = (): ReactNode => (
  <Alert>You can read the policies. Owners and admins of the project can change them.</Alert>
);

interface PartProps {
  readonly setup: PolicySetup;
  readonly mayChange: boolean;
}

const ProjectCard = ({ setup, mayChange }: PartProps): ReactNode => {
  const policy = setup.policies.policies.find((one) => isOf(one, PROJECT));
  return (
    <Card
      title="Whole project"
      description="Applies to every wallet and every API key."
      actions={
        policy === undefined && !mayChange ? null : (
          <Link
            href={pathOfSubject(PROJECT)}
            className={buttonLooks({
              size: "sm",
              variant: policy === undefined ? "primary" : "secondary",
            })}
          >
            {policy === undefined ? "Set limits" : "Open"}
            <span className="sr-only"> of the whole project</span>
          </Link>
        )
      }
    >
      {policy === undefined ? (
        <p className="text-fg-2">No limit.</p>
      ) : (
        <RuleList
          rules={policy.rules}
          names={setup.names}
          label="Limits of the whole project"
        />
      )}
    </Card>
  );
};

/** Links to the form of the project's policy, filled with the rules of a template. */
const TemplatesCard = ({ setup: { names } }: Pick<PartProps, "setup">): ReactNode => (
  <Card
    title="Start from a template"
    description="Fills the form for the whole project. Nothing is saved before you have tried and reviewed it."
    flush
  >
    <ul className="divide-y" aria-label="Templates">
      {TEMPLATES.map(({ id, title, rules }) => (
        <li
          key={id}
          className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-4 py-2.5"
        >
          <div className="min-w-0 flex-1 basis-60">
            <p className="font-medium">{title}</p>
            <p className="text-fg-2">{sentencesOf(rules, names).join(". ")}</p>
          </div>
          <Link
            href={`${pathOfSubject(PROJECT)}?template=${id}`}
            className={buttonLooks({ size: "sm" })}
          >
            Use<span className="sr-only"> the template “{title}”</span>
          </Link>
        </li>
      ))}
    </ul>
  </Card>
);

const WORDS = {
  wallet: {
    title: "Wallets",
    description: "Applies to money that leaves this wallet, whoever moves it.",
    empty: "No wallet has limits of its own",
    add: "Set limits of a wallet",
    placeholder: "Choose a wallet",
  },
  key: {
    title: "API keys",
    description: "Applies to what this key moves, beside the key's own cap and recipients.",
    empty: "No API key has a policy",
    add: "Set limits of an API key",
    placeholder: "Choose an API key",
  },
} as const;

const optionsOf = (
  { wallets, keys, policies }: PolicySetup,
  scope: "wallet" | "key",
): ComboboxOption[] => {
  const isFree = (id: string): boolean =>
    !policies.policies.some((one) => one.subjectId === id);
  return scope === "wallet"
    ? wallets
        .filter(({ id }) => isFree(id))
        .map((wallet) => ({
          value: wallet.id,
          label: walletName(wallet),
          description: shorten(wallet.address),
          keywords: [walletName(wallet), wallet.address],
        }))
    : keys
        .filter(({ id }) => isFree(id))
        .map(({ id, name }) => ({ value: id, label: name, keywords: [name] }));
};

const SubjectsCard = ({
  setup,
  mayChange,
  scope,
}: PartProps & { readonly scope: "wallet" | "key" }): ReactNode => {
  const router = useRouter();
  const words = WORDS[scope];
  const found = setup.policies.policies.filter((policy) => policy.scope === scope);
  const options = optionsOf(setup, scope);
  return (
    <Card title={words.title} description={words.description} flush>
      {found.length === 0 ? (
        <p className="px-4 py-3 text-fg-2">
          {words.empty}. Only the limits of the whole project apply.
        </p>
      ) : (
        <ul className="divide-y" aria-label={`${words.title} with a policy`}>
          {found.map((policy) => (
            <SubjectLine key={policy.id} policy={policy} setup={setup} />
          ))}
        </ul>
      )}
      {!mayChange || options.length === 0 ? null : (
        <div className="border-t px-4 py-3">
          <Field label={words.add} className="max-w-80">
            <Combobox
              options={options}
              value=""
              onValueChange={(subjectId) => router.push(pathOfSubject({ subjectId }))}
              placeholder={words.placeholder}
              searchPlaceholder="Name or address"
            />
          </Field>
        </div>
      )}
    </Card>
  );
};

const SubjectLine = ({
  policy,
  setup,
}: {
  readonly policy: Policy;
  readonly setup: PolicySetup;
}): ReactNode => {
  const wallet = setup.wallets.find(({ id }) => id === policy.subjectId);
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex items-center gap-2 pb-1 font-medium">
          {wallet === undefined ? null : <AddressMark value={wallet.address} />}
          <Link href={pathOfSubject(policy)} className="link wrap-anywhere">
            {setup.nameOf(policy)}
          </Link>
        </p>
        <RuleList
          rules={policy.rules}
          names={setup.names}
          label={`Limits of ${setup.nameOf(policy)}`}
        />
      </div>
      <p className="text-sm text-fg-3">
        Version {policy.version}, <Time value={policy.createdAt} />
      </p>
    </li>
  );
};
