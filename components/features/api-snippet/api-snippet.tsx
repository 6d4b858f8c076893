"use client";

import { ChevronRight } from "lucide-react";
import { useSyncExternalStore, type ReactNode } from "react";
import { CodeBlock } from "@/components/ui/code-block";
import { Tabs } from "@/components/ui/tabs";
import { toCurl, toPython, toTypeScript, type SnippetCall } from "./snippets";

interface ApiSnippetProps extends SnippetCall {
  /** Open from the start. */
  readonly open?: boolean;
}

const never = (): (() => void) => () => undefined;

/** The same call as cURL, TypeScript and Python, folded away under a heading. */
export const ApiSnippet = ({ open = false, ...call }: ApiSnippetProps): ReactNode => {
  const origin = useSyncExternalStore(
    never,
    () => window.location.origin,
    () => "",
  );
  const baseUrl = `${origin}/api`;
  return (
    <details open={open} className="group rounded-card border bg-surface">
      <summary className="flex h-10 cursor-pointer list-none items-center gap-2 px-4 whitespace-nowrap text-fg-2 hover:text-fg">
        <ChevronRight className="size-4 shrink-0 transition-transform duration-150 group-open:rotate-90" aria-hidden />
        The same call by API
        <code className="ml-auto min-w-0 truncate font-mono text-sm text-fg-3">
          {call.method} {call.path}
        </code>
      </summary>
      <div className="border-t px-4 pb-4">
        <Tabs
          label="Language"
          tabs={[
            { value: "curl", label: "cURL", content: <CodeBlock label="cURL command" code={toCurl(baseUrl, call)} /> },
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
      </div>
    </details>
  );
};
