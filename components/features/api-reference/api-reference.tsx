"use client";

import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { buttonLooks } from "@/components/ui/button-looks";
import { PageHeader } from "@/components/ui/page-header";

/**
 * The OpenAPI document in a frame, so that the renderer's styles and content security policy do not
 * affect the app.
 */
export const ApiReference = (): ReactNode => (
  <div className="flex h-[calc(100dvh-7rem)] min-h-96 flex-col">
    <PageHeader
      title="API reference"
      description="Every operation of this installation. Requests that you send here run as you, in the current project."
      actions={
        <a
          href="/api/openapi.json"
          download="openapi.json"
          className={buttonLooks({ size: "sm" })}
        >
          <Download aria-hidden />
          openapi.json
        </a>
      }
    />
    <iframe
      src="/api-reference/frame"
      title="API reference"
      className="w-full flex-1 rounded-card border bg-surface"
    />
  </div>
);
