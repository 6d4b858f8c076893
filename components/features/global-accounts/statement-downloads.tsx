import { FileText, FileCode2 } from "lucide-react";
import type { ReactNode } from "react";
import { FileButton } from "@/components/ui/save-file";

interface StatementDownloadsProps {
  /** The name of the files, without their endings. */
  readonly name: string;
  readonly size?: "sm";
  readonly csv: () => Promise<string>;
  readonly pdf: () => Promise<string>;
  readonly camt053: () => Promise<string>;
}

/**
 * Buttons that save one statement as CSV, as PDF and as camt.053 (ISO 20022), for accounting
 * software.
 */
export const StatementDownloads = ({
  name,
  size,
  csv,
  pdf,
  camt053,
}: StatementDownloadsProps): ReactNode => (
  <>
    <FileButton
      size={size}
      icon={FileText}
      make={async () => ({
        text: await pdf(),
        name: `${name}.pdf`,
        mediaType: "application/pdf",
      })}
    >
      Download PDF
    </FileButton>
    <FileButton
      size={size}
      icon={FileCode2}
      make={async () => ({
        text: await camt053(),
        name: `${name}.xml`,
        mediaType: "application/xml",
      })}
    >
      Download camt.053
    </FileButton>
    <FileButton size={size} make={async () => ({ text: await csv(), name: `${name}.csv` })}>
      Download CSV
    </FileButton>
  </>
);
