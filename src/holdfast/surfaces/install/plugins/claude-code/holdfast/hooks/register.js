// Builds of Claude Code that know function hooks let us do more than steer: our own summary stands
// for what is compacted, with no model asked, and failed results leave the window as others do.
// Older builds run the hooks in hooks.json alone. Whatever goes wrong here, the engine goes on.

const HOOK = 'holdfast-hook'
const SMALL = 4000 // characters up to which no result is large

const ask = async ($, event, document, timeoutMs) => {
  const root = await $.session.root()
  const told = { session_id: await $.session.id(), cwd: root, ...document }
  const ran = await $.process.run([HOOK, 'claude-code', event], {
    cwd: root,
    env: { CLAUDE_PROJECT_DIR: root },
    stdin: JSON.stringify(told),
    timeoutMs,
  })
  return ran.exitCode === 0 && ran.stdout ? JSON.parse(ran.stdout) : undefined
}

const textOf = content =>
  typeof content === 'string'
    ? content
    : content.filter(block => block.type === 'text').map(block => block.text).join('\n')

const said = message => ({
  role: message.role,
  text: [
    message.text,
    ...(message.toolUses ?? []).map(use => `${use.tool} ${JSON.stringify(use.input).slice(0, 300)}`),
    ...(message.toolResults ?? []).map(result => result.text),
  ]
    .filter(Boolean)
    .join('\n'),
})

export const register = on => {
  on('session.compact', async ($, e, next) => {
    if (e.trigger === 'precompute') return { skip: 'holdfast makes the summary when it is needed' }
    if (e.agentId !== undefined) return next(e)
    try {
      const answer = await ask(
        $,
        'session.compact',
        {
          trigger: e.trigger,
          custom_instructions: e.instructions ?? '',
          messages: e.messages.slice(-24).map(said),
        },
        30000,
      )
      if (!answer?.anchor) return next(e)
      return { messages: [{ role: 'user', text: answer.anchor, toolUses: [] }] }
    } catch {
      return next(e)
    }
  })

  on('session.append', { door: 'tool-result' }, async ($, e, next) => {
    const content = e.message.content
    const large = block =>
      block.type === 'tool_result' && block.is_error && textOf(block.content).length > SMALL
    if (!Array.isArray(content) || !content.some(large)) return next(e)
    try {
      const shorter = await Promise.all(
        content.map(async block => {
          if (!large(block)) return block
          const answer = await ask(
            $,
            'session.append',
            {
              agent_id: e.agentId ?? '',
              tool_use_id: block.tool_use_id,
              tool_name: 'Bash',
              tool_response: textOf(block.content),
              is_error: true,
            },
            10000,
          )
          return answer?.output ? { ...block, content: answer.output } : block
        }),
      )
      return next({ ...e, message: { ...e.message, content: shorter } })
    } catch {
      return next(e)
    }
  })
}
