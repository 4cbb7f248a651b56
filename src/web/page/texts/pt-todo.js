/** Portuguese advice for a session that needs a person. */
/** @type {typeof import('./en-todo.js').todo} */
export const todo = {
  todo_unknownError: 'Informe o código que está no motivo',
  todo_pairingExpired: 'Conecte de novo',
  todo_numberRefused: 'Confira o número; vincule por QR',
  todo_deviceNameRefused: 'Conecte com outro navegador; vincule por QR',
  todo_codesLimited: 'Espere algumas horas; vincule por QR',
  todo_codeRefused: 'Vincule por QR; informe o erro',
  todo_codeVoided: 'Tente mais tarde; vincule por QR',
  todo_linkingRefused: 'Conecte de novo',
  todo_linkingStalled:
    'Digite o código com cuidado. Se o telefone disser "Não foi possível conectar o dispositivo", a versão do cliente é antiga demais: atualize o Dormouse',
  todo_loggedOut: 'Vincule de novo',
  todo_locked: 'Abra o aplicativo no telefone: ele diz o que fazer',
  todo_suspended: 'Envie menos a desconhecidos; veja os limites da plataforma',
  todo_accountRefused: 'Vincule de novo por outra rede; informe o problema se ele voltar',
  todo_pairingForged: 'Vincule de novo por outra rede; informe o problema se ele voltar',
  todo_rejected: 'Conecte de novo; vincule outra vez se isso falhar',
  todo_replaced: 'Procure o segundo gateway com as mesmas credenciais, como uma cópia restaurada',
  todo_corruptCredentials: 'Restaure um backup, ou desconecte e vincule de novo',
  todo_epochLost: 'Nada, se isso era a intenção',
  todo_receiverFailed: 'Veja o último erro no cartão do webhook',
  todo_otherAccount: 'Vincule a conta anterior, ou conecte com allowAccountChange para começar do zero',
  todo_unreadable: 'Defina de novo o que o motivo indica e conecte; veja valores danificados',
  todo_exported: 'Nada, se a sessão foi para outro gateway. Conecte aqui se ela não roda em nenhum outro lugar',
  todo_proxyMissing: 'Defina um proxy',
  todo_crashed: 'Ela tenta de novo depois de 15 minutos. Procure instance.crashed no log e informe o problema',
};
