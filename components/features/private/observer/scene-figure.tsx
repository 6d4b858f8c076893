import { ArrowLeftRight, CircleHelp, VenetianMask, Wallet, Waves, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import type { NodeLook, Scene, SceneEdge, SceneNode, Stage } from "./scenes";

const WIDTH = 312;
const HEIGHT = 118;
const CENTERS = [52, 156, 260] as const;
const Y = 46;
const RADIUS = 22;
/** Between a place and the line that leaves it. */
const GAP = 6;
const ICON = 20;
const TITLE_Y = 90;
const DETAIL_Y = 107;
const TEXT_MAX = 16;
const DOTS_MAX = 24;

const ICONS = {
  known: Wallet,
  private: VenetianMask,
  pool: Waves,
  exchange: ArrowLeftRight,
  unknown: CircleHelp,
} as const satisfies Record<Exclude<NodeLook, "crowd">, LucideIcon>;

const NODE_LOOKS = {
  known: "fill-surface stroke-control",
  private: "fill-private-tint stroke-private",
  crowd: "fill-surface stroke-border",
  pool: "fill-sunken stroke-control",
  exchange: "fill-sunken stroke-control",
  unknown: "fill-surface stroke-control [stroke-dasharray:3_3]",
} as const satisfies Record<NodeLook, string>;

const ICON_LOOKS = {
  known: "text-fg-2",
  private: "text-private",
  pool: "text-fg-2",
  exchange: "text-fg-2",
  unknown: "text-fg-3",
} as const satisfies Record<Exclude<NodeLook, "crowd">, string>;

const EDGE_LOOKS = {
  seen: "stroke-fg",
  private: "stroke-private",
  hidden: "stroke-control",
  todo: "stroke-border",
} as const satisfies Record<SceneEdge["look"], string>;

const LABEL_LOOKS = {
  seen: "fill-fg",
  private: "fill-private",
  hidden: "fill-fg-3",
  todo: "fill-fg-3",
} as const satisfies Record<SceneEdge["look"], string>;

const cut = (text: string): string => (text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1)}…`);

/** Dots in rings around the middle; which of them is the one is not drawn. */
const Crowd = ({ x, size }: { readonly x: number; readonly size: number }): ReactNode => {
  const count = Math.max(1, Math.min(DOTS_MAX, size));
  return Array.from({ length: count }, (_, index) => {
    // The golden angle spreads any number of dots evenly over the circle.
    const angle = index * 2.39996;
    const distance = (RADIUS - 5) * Math.sqrt((index + 0.5) / count);
    return (
      <circle
        key={index}
        cx={x + distance * Math.cos(angle)}
        cy={Y + distance * Math.sin(angle)}
        r={2.4}
        className="fill-control"
      />
    );
  });
};

const NodeMark = ({
  node,
  x,
  size,
}: {
  readonly node: SceneNode;
  readonly x: number;
  readonly size: number;
}): ReactNode => {
  const Icon = node.look === "crowd" ? null : ICONS[node.look];
  return (
    <g>
      <circle cx={x} cy={Y} r={RADIUS} className={NODE_LOOKS[node.look]} strokeWidth={1.5} />
      {Icon === null || node.look === "crowd" ? (
        <Crowd x={x} size={size} />
      ) : (
        <Icon x={x - ICON / 2} y={Y - ICON / 2} width={ICON} height={ICON} className={ICON_LOOKS[node.look]} />
      )}
      <text x={x} y={TITLE_Y} textAnchor="middle" className="fill-fg text-[13px] font-medium">
        {cut(node.title)}
      </text>
      <text x={x} y={DETAIL_Y} textAnchor="middle" className="fill-fg-3 text-[12px]">
        {cut(node.detail)}
      </text>
    </g>
  );
};

const Way = ({
  edge,
  from,
  to,
}: {
  readonly edge: SceneEdge;
  readonly from: number;
  readonly to: number;
}): ReactNode => {
  const [start, end] = [from + RADIUS + GAP, to - RADIUS - GAP];
  const isSolid = edge.look === "seen" || edge.look === "private";
  const width = isSolid ? 2 : 1.5;
  return (
    <g className="transition-colors duration-150">
      <path
        d={`M${String(start)} ${String(Y)}H${String(end)}`}
        fill="none"
        strokeWidth={width}
        className={cn(EDGE_LOOKS[edge.look], isSolid ? undefined : "[stroke-dasharray:2_4]")}
      />
      <path
        d={`M${String(end - 5)} ${String(Y - 4)}l5 4l-5 4`}
        fill="none"
        strokeWidth={width}
        className={EDGE_LOOKS[edge.look]}
      />
      <text
        x={(start + end) / 2}
        y={14}
        textAnchor="middle"
        className={cn("num text-[13px] font-medium", LABEL_LOOKS[edge.look])}
      >
        {cut(edge.label)}
      </text>
    </g>
  );
};

/** Where a coin stands while the money is on its way; null: nowhere that could be drawn. */
const coinAt = (stage: Stage): number | null => {
  if (stage === "waiting" || stage === "proving") return CENTERS[0] + RADIUS;
  if (stage === "sent") return (CENTERS[1] + CENTERS[2]) / 2;
  if (stage === "completed") return CENTERS[2] - RADIUS;
  return null;
};

interface SceneFigureProps {
  readonly scene: Scene;
  readonly stage: Stage;
  readonly setSize: number | null;
  /** Draws a coin where the money is: only its owner knows. */
  readonly showsCoin: boolean;
}

/** Draws one view. The list beside it has the same content in sentences, so screen readers skip the picture. */
export const SceneFigure = ({ scene, stage, setSize, showsCoin }: SceneFigureProps): ReactNode => {
  const [first, second] = scene.edges;
  const coin = showsCoin ? coinAt(stage) : null;
  return (
    <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} className="h-auto w-full" aria-hidden focusable="false">
      <Way edge={first} from={CENTERS[0]} to={CENTERS[1]} />
      {second === null ? null : <Way edge={second} from={CENTERS[1]} to={CENTERS[2]} />}
      {scene.nodes.map((node, index) =>
        node === null ? null : <NodeMark key={index} node={node} x={CENTERS[index] ?? 0} size={setSize ?? DOTS_MAX} />,
      )}
      {coin === null ? null : (
        <circle
          r={6}
          cy={Y}
          className="fill-private stroke-surface transition-transform duration-150"
          strokeWidth={2}
          style={{ transform: `translateX(${String(coin)}px)` }}
        />
      )}
    </svg>
  );
};
