"use client";

import { useSyncExternalStore, type ReactNode } from "react";
import { CodeBlock } from "@/components/ui/code-block";
import { Folded } from "@/components/ui/folded";
import { Tabs } from "@/components/ui/tabs";
import { pathOf } from "@/lib/api-client/client";
import type { Callable } from "@/lib/contracts/contract";
import { toCurl, toPython, toTypeScript, type SnippetCall } from "./snippets";

interface ApiSnippetProps extends Pick<SnippetCall, "auth" | "body"> {
  readonly call: Callable;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: unknown;
}

const never = (): (() => void) => () => undefined;

export const ApiSnippet = (props: ApiSnippetProps): ReactNode => {
  const { call: contract, params, query, auth, body } = props;
  const call = {
    method: contract.method,
    path: pathOf(contract, { params, query }),
    auth,
    body,
  };
  const origin = useSyncExternalStore(
    never,
    () => window.location.origin,
    () => "",
  );
  const baseUrl = `${origin}/api`;
  return (
    <Folded
      title="The same call by API"
      aside={
        <code
          className="ml-auto min-w-0 truncate font-mono text-sm text-fg-3"
          title={`${call.method} ${call.path}`}
        >
          {call.method} {call.path}
        </code>
      }
    >
      <Tabs
        label="Language"
        tabs={[
          {
            value: "curl",
            label: "cURL",
            content: <CodeBlock label="cURL command" code={toCurl(baseUrl, call)} />,
          },
          {
            value: "ts",
            label: "TypeScript",
            content: <CodeBlock label="TypeScript code" code={toTypeScript(baseUrl, call)} />,
          },
          {
            value: "python",
            label: "Python",
            content: <CodeBlock label="Python code" code={toPython(baseUrl, call)} />,
          },
        ]}
      />
    </Folded>
  );
};
